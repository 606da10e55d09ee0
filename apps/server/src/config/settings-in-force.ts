import { compareSettings, pickLive, type ReloadReport } from "./reload.ts";
import type { Config } from "./settings.ts";

/** The settings after the last reload. Read at each use, so that a reload takes effect at once. */
export class SettingsInForce {
  #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  get inForce(): Config {
    return this.#config;
  }

  /** Values that are read from the settings at each use. */
  live<Values extends object>(read: { readonly [Name in keyof Values]: (inForce: Config) => Values[Name] }): Values {
    const values = {};
    for (const [name, of] of Object.entries<(inForce: Config) => unknown>(read))
      Object.defineProperty(values, name, { enumerable: true, get: () => of(this.#config) });
    return values as Values;
  }

  take(next: Config): ReloadReport {
    const report = compareSettings(this.#config, next);
    this.#config = { ...this.#config, ...pickLive(next) };
    return report;
  }
}
