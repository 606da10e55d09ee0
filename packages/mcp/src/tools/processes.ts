import { execProcess, executePlaywright } from "@shoal/contract";
import { ExecProcess, ExecutePlaywright, PlaywrightResult } from "@shoal/schemas";
import * as z from "zod/mini";
import { fieldsOf, joined, ownField } from "../base/fields.ts";
import { defineTool, text, type Tool } from "../base/tool.ts";

const maxOutputCharacters = 50_000;
const defaultSeconds = 60;
const Seconds = z._default(z.int().check(z.minimum(1), z.maximum(3600)), defaultSeconds);
const CommandOutput = z.object({
  exit_code: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  timed_out: z.optional(z.boolean()),
});

export const processTools: readonly Tool[] = [
  defineTool({
    name: "run",
    group: "processes",
    title: "Run a command",
    description: "Run a shell command in the session and wait for its end.",
    effect: "destroys",
    calls: [execProcess],
    fields: joined(
      fieldsOf(ExecProcess, { command: "Line for the shell", cwd: "Default the home folder" }),
      ownField("timeout_sec", Seconds, "Seconds until it is killed"),
    ),
    output: CommandOutput,
    async run({ timeout_sec = defaultSeconds, ...body }, { browser, options, transport }) {
      const result = await transport.call(
        execProcess,
        { params: { id: await browser() }, body: { ...body, timeout_sec } },
        { ...options, timeoutMs: (timeout_sec + 10) * 1000 },
      );
      const { exit_code, timed_out } = result;
      const [stdout, stderr] = [decoded(result.stdout_b64), decoded(result.stderr_b64)];
      const parts = [
        `Exit status ${String(exit_code)}${timed_out === true ? `, killed after ${String(timeout_sec)} s` : ""}`,
        stdout,
        stderr === "" ? "" : `stderr:\n${stderr}`,
      ];
      return {
        content: [text(parts.filter((part) => part !== "").join("\n"))],
        structured: { exit_code, stdout, stderr, ...(timed_out !== undefined && { timed_out }) },
      };
    },
  }),
  defineTool({
    name: "evaluate",
    group: "processes",
    title: "Run Playwright code",
    description: "Run Playwright code in the session. page, context and browser are in scope; return a value.",
    effect: "destroys",
    calls: [executePlaywright],
    fields: fieldsOf(ExecutePlaywright, {
      code: "Body of an async function",
      timeout_sec: "Seconds until it is ended",
    }),
    output: PlaywrightResult,
    async run(body, { browser, options, transport }) {
      const timeoutMs = ((body.timeout_sec ?? 60) + 10) * 1000;
      const result = await transport.call(
        executePlaywright,
        { params: { id: await browser() }, body },
        { ...options, timeoutMs },
      );
      const parts = [
        result.success ? shortened(JSON.stringify(result.result ?? null)) : `Failed: ${result.error ?? ""}`,
        result.stdout === undefined || result.stdout === "" ? "" : `stdout:\n${shortened(result.stdout)}`,
        result.stderr === undefined || result.stderr === "" ? "" : `stderr:\n${shortened(result.stderr)}`,
      ];
      return { content: [text(parts.filter((part) => part !== "").join("\n"))], structured: result };
    },
  }),
];

function decoded(base64: string): string {
  return shortened(Buffer.from(base64, "base64").toString("utf8"));
}

/** Keeps the end, where errors are. */
function shortened(output: string): string {
  const left = output.length - maxOutputCharacters;
  return left > 0 ? `(${String(left)} characters left out)\n${output.slice(left)}` : output;
}
