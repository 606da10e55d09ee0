#!/usr/bin/env node
// Before the first import: this saves some milliseconds for a call and more for the service.
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { oldNodeMessage } from "./old-node.ts";

const tooOld = oldNodeMessage(process.versions.node);
if (tooOld !== undefined) {
  process.stderr.write(tooOld);
  process.exit(1);
}
// Not an import: old versions of Node lack this export and must still print the message above.
const { enableCompileCache } = createRequire(import.meta.url)("node:module") as typeof import("node:module");
const { XDG_CACHE_HOME: cacheHome = "" } = process.env;
// Not the default in the temporary folder: other users could replace cached code there.
enableCompileCache(join(cacheHome === "" ? join(homedir(), ".cache") : cacheHome, "shoal", "compile"));
const { main } = await import("./main.ts");
await main(new URL(".", import.meta.url));
