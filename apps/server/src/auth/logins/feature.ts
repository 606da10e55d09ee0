import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { Connections } from "../connections/connections.ts";
import type { LoginPages } from "../connections/handlers.ts";
import { loginHandlers } from "./handlers.ts";
import { Logins, type LoginsParts } from "./logins.ts";
import { openLoginModel } from "./open-login-model.ts";

interface LoginNeeds extends Omit<
  LoginsParts,
  "connections" | "database" | "envelopes" | "log" | "model" | "serverId"
> {
  readonly connections: Connections;
  readonly pages: LoginPages;
}

/** The server must be registered. @throws {StartError} */
export async function loginsFeature(
  { config, database, envelopes, log, serverId }: Host,
  { connections, pages, ...needs }: LoginNeeds,
) {
  const logins = await Logins.open({
    ...needs,
    connections: connections.store,
    database,
    envelopes,
    serverId,
    model: await openLoginModel(config.login_model_module, log),
    log,
  });
  return {
    provides: logins,
    handlers: loginHandlers({ connections, database, loginPages: pages, logins }),
    stop: () => logins.close(),
  } satisfies Feature;
}
