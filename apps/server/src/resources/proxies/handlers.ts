import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Proxies } from "./proxies.ts";

export function proxyHandlers(proxies: Proxies): Handlers<OperationsOf<"proxies">, Access> {
  return {
    createProxy: ({ body, context }) => proxies.create(context.projectId, body),
    listProxies: ({ query, context }) => proxies.list(context.projectId, { ...query, visible: context.visible }),
    getProxy: ({ params, context }) => proxies.get(context.projectId, params.id_or_name),
    updateProxy: ({ params, body, context }) => proxies.rename(context.projectId, params.id_or_name, body.name),
    deleteProxy: ({ params, context }) => proxies.delete(context.projectId, params.id_or_name),
    checkProxy: ({ params, body, context }) => proxies.check(context.projectId, params.id_or_name, body.url),
  };
}
