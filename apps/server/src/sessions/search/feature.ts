import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { operatorRule } from "../../host/operator-rule.ts";
import type { ParsePool } from "../../storage/parsing/parse-pool.ts";
import type { Renders } from "../render/renders.ts";
import { brave } from "./brave.ts";
import { contentsOf } from "./contents.ts";
import { Searches } from "./searches.ts";
import { searxng } from "./searxng.ts";

interface SearchNeeds {
  readonly parsing: ParsePool;
  readonly renders: Pick<Renders, "render">;
}

/** Searches of the web, through providers of the operator. */
export function searchFeature(host: Host, { parsing, renders }: SearchNeeds) {
  const { config, database, settings } = host;
  const { search_brave_key: key, search_brave_url: braveUrl, search_searxng_url: searxngUrl } = config;
  const searches = new Searches({
    database,
    parsing,
    clients: [
      ...(searxngUrl === undefined ? [] : [searxng(searxngUrl, operatorRule(host, [searxngUrl]))]),
      ...(key === undefined
        ? []
        : [brave({ address: braveUrl, key, now: () => new Date() }, operatorRule(host, [braveUrl]))]),
    ],
    perMinute: () => settings.inForce.search_per_minute,
  });
  const handlers: Handlers<OperationsOf<"search">, Access> = {
    createSearch: ({ body, context, signal }) => searches.create(context.projectId, body, signal),
    getSearch: ({ params, context }) => searches.get(context.projectId, params.id),
    listSearchProviders: ({ query }) => searches.providers(query.slug),
    fetchSearchContents: async ({ body, context, params, signal }) =>
      contentsOf(renders, await searches.get(context.projectId, params.id), { body, context, signal }),
  };
  return { handlers, jobs: [{ name: "old searches", run: () => searches.clean() }] } satisfies Feature;
}
