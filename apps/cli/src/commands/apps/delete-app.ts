import type { GlobalFlags, Run } from "../../core/types.ts";
import { call } from "../../connection/call.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printable } from "../../output/format.ts";
import { pagesOf } from "../../operations/list.ts";
import { confirmed } from "../../operations/run-operation.ts";
import type { SpecOf } from "./follow-to-end.ts";

export async function deleteApp(
  app: string,
  specOf: SpecOf,
  flags: GlobalFlags & { readonly version?: string; readonly yes?: boolean },
  run: Run,
): Promise<void> {
  const { version } = flags;
  const named = `${printable(app)}${version === undefined ? "" : ` with version ${printable(version)}`}`;
  const query = { app_name: app, ...(version !== undefined && { app_version: version }) };
  const ids: string[] = [];
  const globals = { ...flags, dryRun: false };
  for await (const { items } of pagesOf(
    specOf("deployments.list"),
    { params: {}, query, body: undefined },
    { all: true, globals },
    run,
  ))
    ids.push(...(items as { readonly id: string }[]).map(({ id }) => id));
  if (ids.length === 0)
    throw new ExitError(
      exitCodes.notFound.status,
      `App ${named} was not found.`,
      "List the apps with: shoal apps list",
    );
  const many = ids.length === 1 ? "1 deployment" : `${String(ids.length)} deployments`;
  const remove = specOf("deployments.delete");
  const requests = ids.map((id) => ({ params: { id }, query: {}, body: undefined }));
  if (flags.dryRun === true) {
    const { printRequest } = await import("../../operations/dry-run.ts");
    for (const request of requests) await printRequest({ spec: remove, request, given: {} }, flags, run);
    return;
  }
  if (flags.yes !== true) await confirmed(`Delete app ${named} with ${many}?`, run);
  for (const request of requests) await removeIfThere(remove, request, flags, run);
  if (flags.quiet !== true) run.terminal.stderr.write(`Deleted app ${named} with ${many}.\n`);
}

async function removeIfThere(
  spec: Parameters<typeof call>[0],
  request: Parameters<typeof call>[1],
  flags: GlobalFlags,
  run: Run,
): Promise<void> {
  const { ApiError } = await import("@shoal/transport");
  await call(spec, request, flags, run).catch((error: unknown) => {
    // Another caller has deleted it since the list.
    if (!ApiError.isInstance(error) || error.status !== 404) throw error;
  });
}
