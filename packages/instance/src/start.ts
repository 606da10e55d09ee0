import { enableCompileCache } from "node:module";
import { spawnChromium } from "./chromium/spawn.ts";
import { startEgressForwarder } from "./egress-forwarder.ts";
import type { InstanceConfig } from "./protocol.ts";

/** Chromium needs longer than everything else: it is started before the rest of the program is even read. */
async function start(document: string | undefined): Promise<void> {
  // What the placement wrote; `readConfig` looks at it where something fails.
  const config = JSON.parse(document ?? "") as InstanceConfig;
  const forwarder = await startEgressForwarder(config.egress_path);
  const spawn = (changed: InstanceConfig) => spawnChromium(changed, forwarder.port);
  const chromium = spawn(config);
  if (config.cache_dir !== undefined) enableCompileCache(config.cache_dir);
  const { runInstance } = await import("./program.ts");
  runInstance({ config, forwarder, chromium, spawn });
}

start(process.env.SHOAL_INSTANCE).catch((error: unknown) => {
  process.stderr.write(`${JSON.stringify({ level: "error", message: "the instance could not start", error: String(error) })}\n`);
  process.exit(1);
});
