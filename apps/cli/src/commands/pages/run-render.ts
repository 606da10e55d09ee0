import type { RenderedPage, RenderPage } from "@shoal/schemas";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { call } from "../../connection/call.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, Run } from "../../core/types.ts";
import { isStandard } from "../../operations/download.ts";
import { reasonOf } from "../../operations/local-errors.ts";
import { printableLines } from "../../output/format.ts";
import { notify } from "../../output/output.ts";
import { printValue } from "../../output/print-result.ts";
import { millisecondsOf } from "./page-arguments.ts";
import type { RenderFlags } from "./render-flags.ts";

type Output = NonNullable<RenderPage["outputs"]>[number];

const byExtension: Readonly<Record<string, Output>> = {
  ".md": "markdown",
  ".html": "html",
  ".htm": "html",
  ".txt": "text",
  ".png": "screenshot",
  ".jpg": "screenshot",
  ".jpeg": "screenshot",
  ".webp": "screenshot",
  ".pdf": "pdf",
};
const formats = { ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp" } as const;
/** Of the request, in addition to its own limit. */
const graceMs = 15_000;

/** Renders a page, and prints it or writes it to a file. */
export async function runRender(
  address: string,
  flags: RenderFlags,
  { run, spec }: { readonly run: Run; readonly spec: CommandSpec },
): Promise<void> {
  const { file } = flags;
  const extension = isStandard(file) ? "" : extname(file).toLowerCase();
  // The service checks the name.
  const output = (flags.as as Output | undefined) ?? byExtension[extension] ?? "markdown";
  const isFile = output === "screenshot" || output === "pdf";
  if (isFile && file === undefined && flags.output === "table" && run.terminal.screen)
    throw new UsageError("Refusing to write binary data to a terminal; use -f FILE.");
  const page = address === "-" ? { html: await textOf(run.terminal.stdin) } : { url: address };
  const body = bodyOf(page, flags, { extension, output });
  const requestTimeout = flags.requestTimeout ?? ((body.timeout_ms ?? 30_000) + graceMs) / 1000;
  const request = { params: {}, query: {}, body };
  const { value } = await call(spec, request, { ...flags, requestTimeout }, run);
  // The contract's type.
  const rendered = value as RenderedPage;
  if (rendered.cut.length > 0) notify(run.terminal, flags, `Incomplete: ${rendered.cut.join(", ")}.`);
  if (extension === ".json") return write(file ?? "", `${JSON.stringify(rendered, undefined, 2)}\n`);
  if (isStandard(file) && flags.output !== "table") return printValue(run.terminal, rendered, flags.output);
  const content = contentOf(rendered, output);
  if (!isStandard(file)) return write(file, content);
  run.terminal.stdout.write(typeof content === "string" ? printableLines(`${content}\n`) : content);
}

function bodyOf(
  page: RenderPage,
  { fullPage, profile, proxy, wait, waitFor, waitUntil }: RenderFlags,
  { extension, output }: { readonly extension: string; readonly output: Output },
): RenderPage {
  const format = formats[extension as keyof typeof formats] as (typeof formats)[keyof typeof formats] | undefined;
  const screenshot = { ...(format && { format }), ...(fullPage === true && { full_page: true }) };
  return {
    ...page,
    outputs: [output],
    ...(output === "screenshot" && { screenshot }),
    // The service checks the name.
    ...(waitUntil !== undefined && { wait_until: waitUntil as NonNullable<RenderPage["wait_until"]> }),
    ...(waitFor !== undefined && { wait_for: { selector: waitFor } }),
    ...(wait !== undefined && { timeout_ms: millisecondsOf(wait, "--wait") }),
    ...(profile !== undefined && { profile: { name: profile } }),
    ...(proxy !== undefined && { proxy: { name: proxy } }),
  };
}

function contentOf(rendered: RenderedPage, output: Output): string | Buffer {
  if (output === "screenshot" || output === "pdf") return Buffer.from(rendered[output]?.data ?? "", "base64");
  if (output === "links") return (rendered.links ?? []).map(({ text, url }) => `${url}\t${text}`).join("\n");
  return rendered[output] ?? "";
}

async function write(file: string, content: string | Buffer): Promise<void> {
  await writeFile(file, content).catch((error: unknown) => {
    throw new ExitError(exitCodes.error.status, `Cannot write ${file}: ${reasonOf(error)}`);
  });
}
