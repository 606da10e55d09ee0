#!/usr/bin/env node
// The entry of the command. What is loaded from here on is compiled once and then read from the user's cache, which has to be switched
// on before the first import: some milliseconds for a call, more for the start of the service.
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

const { XDG_CACHE_HOME: cacheHome = "" } = process.env;
// Not the default below the system's folder for temporary files: code of this user's must not lie where others may write.
enableCompileCache(join(cacheHome === "" ? join(homedir(), ".cache") : cacheHome, "shoal", "compile"));
const { main } = await import("./main.ts");
await main(new URL(".", import.meta.url));
