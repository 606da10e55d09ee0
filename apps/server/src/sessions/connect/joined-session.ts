import { ServiceError } from "@shoal/router";
import { isDeepStrictEqual } from "node:util";
import type { Profiles } from "../../resources/profiles/profiles.ts";
import { networkRulesOf } from "../../resources/projects/network-rules.ts";
import { allowlistOf } from "../browsers/options/allowlist.ts";
import type { SessionRow } from "../browsers/session-store.ts";
import type { ConnectSettings } from "./connect-settings.ts";

/**
 * A client that joins a session gets it as it runs. @throws {ServiceError} 409 if the address requires another exit,
 * identity or isolation.
 */
export async function refuseOtherSettings(
  { isolation, network, profile, proxy, proxy_id, region }: ConnectSettings["create"],
  row: SessionRow,
  profiles: Pick<Profiles, "get">,
): Promise<void> {
  const wantedProfile = profile && (await profiles.get(row.project_id, profile.id ?? profile.name ?? "")).id;
  const { isolation: present = "process", allowlist, network_rules: rules, private_hosts: hosts } = row.options;
  const differs = [
    proxy !== undefined && proxy.name !== row.proxy?.name && "proxy",
    proxy_id !== undefined && proxy_id !== (row.proxy?.id ?? "") && "proxy_id",
    wantedProfile !== undefined && wantedProfile !== row.profile_id && "profile",
    network !== undefined &&
      !isDeepStrictEqual(
        [networkRulesOf(network), network.private_hosts, allowlistOf(network)?.hosts],
        [rules, hosts, allowlist?.hosts],
      ) &&
      "allow, allowed_hosts, deny or private_hosts",
    isolation !== undefined && isolation !== present && "isolation",
    region !== undefined && region !== row.region && "region",
  ].find((name) => name !== false);
  if (differs === undefined) return;
  throw new ServiceError(409, "conflict", `Browser ${row.name ?? row.id} runs with another setting: ${differs}.`, {
    hint: "Leave the setting out to join it, choose another name, or end it with browsers.delete.",
  });
}
