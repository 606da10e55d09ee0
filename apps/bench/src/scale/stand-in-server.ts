// A Shoal server whose instances are stand-ins, as a child process: settings in its arguments, reports over IPC.
import { openDatabase } from "@shoal/database";
import { loadConfig, startServer } from "@shoal/server";
import { join } from "node:path";
import { quietLog } from "./bench-database.ts";
import { countingStatements } from "./counted-statements.ts";
import { standInInstances } from "./stand-in-instances.ts";

const [, , dataDir = "", url = "", ...flags] = process.argv;
const counted = countingStatements(await openDatabase({ url, dataDir: "", log: quietLog }));
const server = await startServer(
  loadConfig({
    flags: {
      "data-dir": dataDir,
      port: "0",
      placement: "process",
      warm: "0",
      "log-level": "error",
      ...Object.fromEntries(flags.map((flag) => flag.split("=") as [string, string])),
    },
    env: { SHOAL_SECRET_KEY: "the same secret on every server of the bench" },
  }),
  {
    database: counted.database,
    aroundPlacement: await standInInstances(join(dataDir, "..", `${String(process.pid)}.sock`)),
  },
);
process.on("message", (message) => {
  if (message === "stop")
    void server.close().then(() => {
      process.exit();
    });
  else {
    const { system, user } = process.cpuUsage();
    process.send?.({ statements: counted.count(), sessions: server.sessionCount(), cpuMs: (system + user) / 1000 });
  }
});
process.send?.({ baseUrl: server.baseUrl, apiKey: server.apiKey });
