// `npm run bench -- sessions http` selects benches, `--quick` shortens them, `--json FILE` writes the figures. Only the
// ratios are meaningful.
import { parseArgs } from "node:util";
import { measureDeployments } from "./apps/deployments.ts";
import { measureInvocations } from "./apps/invocations.ts";
import { measureAutomation } from "./browser/automation.ts";
import { measureClientCall } from "./client/client-call.ts";
import { measureClientEvents } from "./client/client-events.ts";
import { measureClientStart } from "./client/client-start.ts";
import { measureClientTransfers } from "./client/client-transfers.ts";
import { measureCommandStart } from "./client/command-start.ts";
import { measureCommands } from "./browser/commands.ts";
import { measureActs } from "./browser/acts.ts";
import { measureComputer } from "./browser/computer.ts";
import { measureDeleteDirectory } from "./browser/delete-directory.ts";
import { type Figure, printFigures, writeFigures } from "./measuring/figures.ts";
import { measureHttpCost } from "./service/http-cost.ts";
import { measureContexts } from "./sessions/contexts.ts";
import { measureHarness } from "./sessions/harness.ts";
import { measureIdleTimeout } from "./sessions/idle-timeout.ts";
import { measureMemory } from "./sessions/memory.ts";
import { measureLiveView } from "./browser/live-view.ts";
import { measureProfileCreates } from "./sessions/profile-creates.ts";
import { measureProfiles } from "./sessions/profiles.ts";
import { measureOutlines } from "./observe/outlines.ts";
import { measureSight } from "./sight/measure-sight.ts";
import { measureReplays } from "./browser/replays.ts";
import { measureSessionLife } from "./sessions/session-life.ts";
import { measureSignIn } from "./browser/sign-in.ts";
import { measureSleep } from "./sessions/sleep.ts";
import { measureSoak } from "./sessions/soak.ts";
import { measureStoredRows } from "./service/stored-rows.ts";
import { measureEvidence } from "./browser/evidence.ts";
import { measureTelemetry } from "./browser/telemetry.ts";
import { measureRenderedPages } from "./sessions/rendered-pages.ts";
import { measureWarmCreates } from "./sessions/warm-creates.ts";
import { measureAtRest } from "./scale/at-rest.ts";
import { measureManyServers } from "./scale/fifty-servers.ts";
import { measureTenThousand } from "./scale/ten-thousand.ts";
import { measureThreeServers } from "./scale/three-servers.ts";
import { measureWatchLatency } from "./browser/watch-latency.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: "boolean", default: false }, json: { type: "string" } },
});
const { quick } = values;
const benches: Record<string, { title: string; run: () => Promise<Figure[]> }> = {
  sessions: {
    title: "Life of a session: create, connect over CDP, open a page, delete",
    run: () => measureSessionLife(quick ? 5 : 30),
  },
  harness: {
    title: "A hundred lives as public harnesses run them, page actions, and sessions at once",
    run: () => measureHarness(quick),
  },
  http: { title: "CPU of the service a request", run: () => measureHttpCost(quick ? 2000 : 20_000) },
  idle: { title: "Idle sessions (timeout_seconds: 10)", run: () => measureIdleTimeout(quick ? 2 : 20) },
  contexts: { title: "Sessions in a shared browser", run: () => measureContexts(quick ? 4 : 16) },
  sleep: { title: "Sleeping sessions (sleep_after_seconds: 1)", run: () => measureSleep(quick ? 3 : 25) },
  creates: { title: "Waiting for a browser that waits", run: () => measureWarmCreates(quick ? 2 : 10) },
  render: { title: "A picture of a page in one call", run: () => measureRenderedPages(quick ? 5 : 20) },
  "profile-creates": {
    title: "Sessions that start with a small profile",
    run: () => measureProfileCreates(quick ? 5 : 20),
  },
  rows: { title: "Ten thousand rows", run: () => measureStoredRows(quick ? 1000 : 10_000) },
  watch: { title: "Directory watch", run: () => measureWatchLatency(quick ? 50 : 500) },
  commands: {
    title: "Commands next to the browser",
    run: () => measureCommands(quick ? 50 : 500, quick ? 2 ** 27 : 2 ** 30),
  },
  acts: { title: "Actions and pictures of a page", run: () => measureActs(quick ? 10 : 60) },
  computer: { title: "Screenshots and input", run: () => measureComputer(quick ? 10 : 60) },
  automation: {
    title: "CDP, Playwright code, requests through the browser",
    run: () => measureAutomation(quick ? 5 : 25),
  },
  observe: { title: "Outlines of twenty pages", run: () => measureOutlines(quick ? 3 : 10) },
  sight: { title: "Widgets of component libraries, by three tools", run: () => measureSight() },
  "sign-in": { title: "A login on a site with one page", run: () => measureSignIn(quick ? 3 : 20) },
  invocations: {
    title: "Invocations of an app",
    run: () => measureInvocations(quick ? 5 : 20, quick ? 10 : 50),
  },
  deployments: { title: "Deployments of an app", run: () => measureDeployments(quick ? 3 : 10) },
  telemetry: { title: "Telemetry of a busy page", run: () => measureTelemetry(quick ? 1 : 3) },
  evidence: { title: "Sessions with the default evidence", run: () => measureEvidence(quick ? 3 : 12) },
  "live-view": { title: "A page that people watch", run: () => measureLiveView(quick ? 5 : 20, quick ? 20 : 100) },
  replays: { title: "A busy page, recorded", run: () => measureReplays(quick ? 5 : 20) },
  profiles: { title: "A profile with a large state", run: () => measureProfiles(quick ? 20 : 200) },
  delete: { title: "Deleting a directory", run: () => measureDeleteDirectory(quick ? 1 : 5) },
  "client-call": { title: "CPU and time of the client a call", run: () => measureClientCall(quick ? 500 : 3000) },
  "client-start": { title: "Importing the client in Node", run: () => measureClientStart(quick ? 5 : 25) },
  "client-events": {
    title: "Event streams through the client",
    run: () => measureClientEvents(quick ? 20_000 : 200_000),
  },
  "client-transfers": {
    title: "Files through the client",
    run: () => measureClientTransfers(quick ? 2 ** 27 : 2 ** 30, quick ? 3 : 5),
  },
  command: { title: "The command, from its start to its end", run: () => measureCommandStart(quick ? 5 : 41) },
  scale: {
    title: "Ten thousand sessions of one server, without browsers",
    run: () => measureTenThousand(quick ? 500 : 10_000),
  },
  rest: {
    title: "A server at rest, with sessions without browsers",
    run: () =>
      measureAtRest(
        quick
          ? { steps: [0, 100], restSeconds: 10, lives: 600 }
          : { steps: [0, 100, 1000], restSeconds: 30, lives: 9000 },
      ),
  },
  servers: {
    title: "Fifty servers on one database, without browsers",
    run: () => measureManyServers(quick ? 10 : 50, quick ? 3 : 10),
  },
  "three-servers": {
    title: "Creates over three servers, without browsers",
    run: () => measureThreeServers(quick ? 1 : 5, quick ? 50 : 200),
  },
  soak: { title: "A thousand sessions", run: () => measureSoak(quick ? 60 : 1000) },
  memory: { title: "Memory", run: () => measureMemory(quick ? 20 : 500) },
};
// The score of widgets installs 1.4 GB of libraries.
const wanted = positionals.length > 0 ? positionals : Object.keys(benches).filter((name) => name !== "sight");
const all: Figure[] = [];
for (const name of wanted) {
  const bench = benches[name];
  if (!bench) {
    console.error(`Unknown bench "${name}": choose from ${Object.keys(benches).join(", ")}.`);
    process.exit(2);
  }
  const figures = await bench.run();
  printFigures(bench.title, figures);
  all.push(...figures);
}
if (values.json !== undefined) writeFigures(values.json, all);
