import type { Endpoint } from "@shoal/contract";
import { lazyObject, Timestamp } from "@shoal/schemas";
import * as z from "zod/mini";
import { connect } from "../../connection/transport.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { GlobalFlags, Run } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import { openElsewhere, openUrl } from "../../operations/open-url.ts";

const Link = lazyObject(() => ({ url: z.string(), expires_at: Timestamp }));

const createLink = {
  operationId: "console.links.create",
  area: "Console",
  plane: "control",
  method: "POST",
  path: "/console/links",
  summary: "Create a link that opens the console.",
  responses: { 201: { kind: "json", schema: Link } },
  errors: [401, 403, 429],
  idempotency: { repeats: "every link works once" },
} as const satisfies Endpoint;

export async function openConsole(flags: GlobalFlags & { readonly print?: boolean }, run: Run): Promise<void> {
  const link = Link.safeParse(await connect(flags, run).call(createLink, {}, { signal: run.signal }));
  if (!link.success)
    throw new ExitError(
      exitCodes.notImplemented.status,
      "The service returned no link to its console.",
      "Update the service, or check --base-url.",
    );
  const { url } = link.data;
  const { stderr, stdout } = run.terminal;
  const isLoud = flags.quiet !== true;
  if (flags.print !== true && (await openUrl(url, run.env))) {
    // Do not print the URL: it signs in.
    if (isLoud) stderr.write(`Opened the console at ${printable(new URL(url).origin)}\n`);
    return;
  }
  if (flags.print !== true && isLoud) stderr.write(`${openElsewhere(url)}\n`);
  if (isLoud) stderr.write("This link signs in once, within 60 seconds:\n");
  stdout.write(`${printable(url)}\n`);
}
