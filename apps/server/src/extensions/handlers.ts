import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import type { ChromeStore } from "./chrome-store.ts";
import type { Extensions } from "./extensions.ts";

type ExtensionEndpoints = Pick<
  typeof endpoints,
  "uploadExtension" | "listExtensions" | "getExtension" | "downloadExtension" | "downloadExtensionFromChromeStore" | "deleteExtension"
>;

export function extensionHandlers(extensions: Extensions, store: ChromeStore): Handlers<ExtensionEndpoints, Access> {
  return {
    uploadExtension: ({ body, context }) => extensions.upload(context.projectId, body),
    listExtensions: ({ query, context }) => extensions.list(context.projectId, query),
    getExtension: ({ params, context }) => extensions.get(context.projectId, params.id_or_name),
    downloadExtension: ({ params, context }) => extensions.download(context.projectId, params.id_or_name),
    downloadExtensionFromChromeStore: ({ query, signal }) => store.download(query, signal),
    deleteExtension: ({ params, context }) => extensions.delete(context.projectId, params.id_or_name),
  };
}
