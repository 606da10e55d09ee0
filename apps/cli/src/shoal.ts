#!/usr/bin/env node
// The entry of the command. What is loaded from here on is compiled once and then read from the user's cache, which has to be switched
// on before the first import: some milliseconds for a call, more for the start of the service.
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const minNode = 24;
if (Number.parseInt(process.versions.node) < minNode) {
  process.stderr.write(`error: shoal needs Node ${String(minNode)} or newer; this is Node ${process.versions.node}.\n`);
  process.exit(1);
}
// Not an import: its name is missing in old versions of Node, where the message above must still be printed.
const { enableCompileCache } = createRequire(import.meta.url)("node:module") as typeof import("node:module");
const { XDG_CACHE_HOME: cacheHome = "" } = process.env;
// Not the default below the system's folder for temporary files: code of this user's must not lie where others may write.
enableCompileCache(join(cacheHome === "" ? join(homedir(), ".cache") : cacheHome, "shoal", "compile"));
const { main } = await import("./main.ts");
await main(new URL(".", import.meta.url));
