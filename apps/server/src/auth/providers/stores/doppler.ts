import * as z from "zod/mini";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderItem,
  type ProviderOptions,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { grouped, itemsOfGroups, valuesOfGroup } from "./grouped-secrets.ts";
import { addressOf, understood } from "./login-values.ts";

const title = "Doppler";
const Secrets = z.record(z.string(), z.string());

class DopplerProvider implements CredentialProvider {
  readonly #options: ProviderOptions;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    await this.#groups(signal);
    return [this.#vault];
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    return itemsOfGroups(await this.#groups(signal), this.#vault).slice(0, maxItems);
  }

  async read({ path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    return valuesOfGroup(await this.#groups(signal), this.#vault, path);
  }

  /** A service token is bound to one config and needs no names. */
  get #vault(): ProviderVault {
    const { config, project } = this.#options.settings;
    const name = [project, config].filter((part) => part !== undefined).join(".") || "doppler";
    return { id: name, name };
  }

  async #groups(signal: AbortSignal): Promise<ReturnType<typeof grouped>> {
    const { address = "", config, project } = this.#options.settings;
    const url = addressOf(address, "v3/configs/config/secrets/download");
    url.searchParams.set("format", "json");
    if (project !== undefined) url.searchParams.set("project", project);
    if (config !== undefined) url.searchParams.set("config", config);
    const headers = { authorization: `Bearer ${this.#options.token}` };
    const { json } = await this.#options.http.send({ url, headers, signal });
    return grouped(understood(Secrets, json, title));
  }
}

export const doppler: CredentialProviderKind = {
  kind: "doppler",
  title,
  settings: {
    address: { description: "the address of the API", isAddress: true, fallback: "https://api.doppler.com" },
    project: { description: "the project; a service token needs none" },
    config: { description: "the config; a service token needs none" },
  },
  open: (options) => new DopplerProvider(options),
};
