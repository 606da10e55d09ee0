import type { Shoal } from "@shoal/client";
import { queryOptions } from "@tanstack/react-query";

interface Resource {
  readonly id?: string | undefined;
  readonly name?: string | null | undefined;
}

const most = 100;

/** Profiles or proxies of a project, as choices by id; `""` = none. */
export const resourceOptions = (shoal: Shoal, project: string | undefined, kind: "profiles" | "proxies") =>
  queryOptions({
    queryKey: [kind, project, "options"],
    queryFn: async ({ signal }): Promise<readonly Resource[]> =>
      (await shoal[kind].list({ limit: most }, { signal })).items,
    select: (resources) => [
      { value: "", label: "None" },
      ...resources.map(({ id = "", name }) => ({ value: id, label: name ?? id })),
    ],
  });
