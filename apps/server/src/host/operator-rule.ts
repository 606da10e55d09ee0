import { createOutboundRule, type OutboundRule } from "@shoal/placement";
import type { Host } from "./host.ts";

/** @param urls - that the operator configured: these may be private. Addresses that their services name may not. */
export function operatorRule(
  { config, otherServers }: Pick<Host, "config" | "otherServers">,
  urls: readonly (string | undefined)[],
): OutboundRule {
  const allowed = urls.flatMap((url) => (url === undefined ? [] : hostAndPort(new URL(url))));
  return createOutboundRule({ allowPrivateHosts: [...config.allow_private_hosts, ...allowed], otherServers });
}

function hostAndPort({ hostname, port, protocol }: URL): string {
  const usual = protocol === "http:" ? "80" : "443";
  return `${hostname}:${port === "" ? usual : port}`;
}
