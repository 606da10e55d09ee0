import { createEgressProbe } from "@shoal/placement";
import { exitTemplates } from "../../config/exits.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { partLog } from "../../log/log.ts";
import { proxyHandlers } from "./handlers.ts";
import { Proxies } from "./proxies.ts";

export function proxiesFeature({ config, database, envelopes, log, otherServers }: Host) {
  const proxies = new Proxies({
    database,
    envelopes,
    probe: createEgressProbe({
      allowPrivateHosts: config.allow_private_hosts,
      otherServers,
      log: partLog(log, "proxy checks"),
    }),
    templates: exitTemplates(config),
    checkUrl: config.proxy_check_url,
  });
  return { provides: proxies, handlers: proxyHandlers(proxies) } satisfies Feature;
}
