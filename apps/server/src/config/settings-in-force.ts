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

  take(next: Config): ReloadReport {
    const report = compareSettings(this.#config, next);
    this.#config = { ...this.#config, ...pickLive(next) };
    return report;
  }
}
