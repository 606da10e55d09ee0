// Serves with the settings in its argument, prints its URL, and stops when stdin ends.
import { completeConfig } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";
import { startServer } from "../main/server.ts";
import { unlimited } from "./unlimited.ts";

const settings = JSON.parse(process.argv[2] ?? "{}") as Settings & { data_dir: string };
const running = await startServer(
  completeConfig({
    port: 0,
    placement: "process",
    warm: 0,
    log_level: "warn",
    log_format: "json",
    drain_seconds: 5,
    ...unlimited,
    ...settings,
  }),
);
process.stdout.write(`${JSON.stringify({ base_url: running.baseUrl, api_key: running.apiKey })}\n`);
process.stdin.resume().on("end", () => {
  void running.close().then(() => {
    process.exit();
  });
});
