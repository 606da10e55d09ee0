import { readFileSync } from "node:fs";
import type { CommandSpec } from "./command-table.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Terminal } from "./output.ts";
import { buildProgram, CommanderError } from "./program.ts";

const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
// Made at build time from openapi.json.
const table = JSON.parse(readFileSync(new URL("commands.json", import.meta.url), "utf8")) as CommandSpec[];

const wantsColour = process.env.NO_COLOR === undefined && !process.argv.includes("--no-color") && process.env.TERM !== "dumb";
const terminal: Terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  interactive: process.stdin.isTTY && process.stderr.isTTY && process.env.CI === undefined,
  colour: process.stdout.isTTY && wantsColour,
  width: process.stdout.isTTY ? process.stdout.columns : 80,
};

const interrupt = new AbortController();
process.once("SIGINT", () => {
  interrupt.abort();
  // A second Ctrl-C does not wait for anything.
  process.once("SIGINT", () => process.exit(exitCodes.interrupted.status));
});
// `shoal … | head` closes the pipe: that is an end, not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

const program = buildProgram(manifest.version, table, { terminal, env: process.env, signal: interrupt.signal });
try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage.status;
  else if (interrupt.signal.aborted) process.exitCode = exitCodes.interrupted.status;
  else {
    const { report } = await import("./report.ts");
    process.exitCode = report(error, terminal);
  }
}
