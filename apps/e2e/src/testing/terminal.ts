import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { builtCommand } from "./guide-runs.ts";

/** Needs `script` from util-linux; other versions take other flags. */
export function noScript(): string | undefined {
  const missing = spawnSync("sh", ["-c", "script --version"], { encoding: "utf8" }).stdout.includes("util-linux")
    ? undefined
    : "script from util-linux is missing";
  if (missing !== undefined && process.env.SHOAL_REQUIRE_ALL === "1")
    throw new Error(`SHOAL_REQUIRE_ALL is set, but ${missing}.`);
  return missing;
}

export interface TerminalRun {
  screen(): string;
  type(keys: string): void;
  readonly status: Promise<number | null>;
}

/** Runs the built `shoal` on a pseudo-terminal. @param env - in addition to `PATH` and `HOME`. */
export function onTerminal(args: readonly string[], env: Readonly<Record<string, string>>): TerminalRun {
  const command = [process.execPath, builtCommand, ...args].map((word) => `'${word}'`).join(" ");
  const { HOME = "", PATH = "" } = process.env;
  const child = spawn("script", ["-qec", `stty cols 100 rows 40; exec ${command}`, "/dev/null"], {
    env: { HOME, PATH, TERM: "xterm-256color", ...env },
  });
  let screen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (screen += text));
  // Ignore input after the exit.
  child.stdin.on("error", () => undefined);
  const status = once(child, "close").then(() => child.exitCode);
  return { screen: () => screen, type: (keys) => child.stdin.write(keys), status };
}
