import type { CommandEntry } from "../../core/types.ts";

const exampleId = "m3x1p0v2k7c9q5w8z6t4r2yh";
const runId = "e9d3c1b7a5f2e8d4c6b0a1f3";
const id = ["ID", "id"] as const;
const name = ["NAME", "name"] as const;
const version = ["VERSION", "version"] as const;
const steps = "Steps as JSON, 1 to 200: see shoal flows get";
const parameters = "Parameters as JSON, up to 50";
const versionHelp = "An earlier version; default: the latest";

export const flowEntries: Readonly<Record<string, CommandEntry>> = {
  "flows.record": {
    summary: "Create a flow from the actions of a session",
    about: "Actions of this command, of MCP and of the SDK count, also those before. The session must run.",
    help: {
      name: "Unique name in the project",
      since: "Only actions after this time (2026-01-31T12:00:00Z)",
      values: "Typed texts become parameters, or literals",
    },
    first: ["skipped"],
    examples: ["shoal flows record research --name order"],
  },
  "flows.create": {
    summary: "Create a flow from steps",
    help: { name: "Unique name in the project", start_url: "Address on which the flow starts", steps, parameters },
    first: ["id", "name", "version"],
    examples: [
      `shoal flows create --name search --start-url https://shop.example --steps '[{"action":"click","target":{"role":"link","name":"Offers"}}]'`,
    ],
  },
  "flows.import": {
    summary: "Create a flow from an exported file",
    about: "Reads files of shoal flows export. Other Playwright programs are refused.",
    help: {
      name: "Unique name in the project; default: the name in the file",
      text: "Content of the file; - reads stdin",
    },
    first: ["id", "name", "version"],
    examples: ["shoal flows import --text - < order.spec.ts"],
  },
  "flows.list": {
    summary: "List flows",
    about: "Newest first.",
    columns: [id, name, version, ["START", "start_url"], ["UPDATED", "updated_at"]],
    empty: "No flows. Record one: shoal flows record research --name order",
    examples: ["shoal flows list"],
  },
  "flows.get": {
    summary: "Show a flow with its steps",
    help: { version: versionHelp },
    first: ["id", "name", "version"],
    examples: [`shoal flows get ${exampleId}`, `shoal flows get ${exampleId} -o json`],
  },
  "flows.update": {
    summary: "Change a flow",
    about: "Other steps, parameters or another start are a new version.",
    help: { name: "New name", start_url: "Address on which the flow starts", steps, parameters },
    first: ["id", "name", "version"],
    examples: [`shoal flows update ${exampleId} --name order`],
  },
  "flows.delete": {
    summary: "Delete a flow with its versions",
    confirm: "Delete flow {0}?",
    done: "Deleted flow {0}.",
    examples: [`shoal flows delete ${exampleId} --yes`],
  },
  "flows.runs.create": {
    summary: "Run a flow",
    about: "Starts the run and returns at once. Each row of --table runs in its own browser.",
    help: {
      version: versionHelp,
      parameters: "Values of the parameters as JSON",
      table: "Values of the parameters for each row as JSON, up to 100 rows",
      concurrency: "Rows that run at the same time, 1 to 10; default: 1",
      session: "A running session by ID or NAME, instead of new browsers; it stays open",
      browser: "Profile, proxy, viewport, stealth, location, conditions and replay of the new browsers as JSON",
      names: "Other names of elements and texts as JSON: for a page in another language",
      person_timeout_seconds: "Longest wait for a person, 10 to 14400; default: 900",
    },
    words: ["flows", "run"],
    first: ["id", "status"],
    next: ["", "Follow it with: shoal flows runs get {flow_id} {id} --wait 50"],
    examples: [
      `shoal flows run ${exampleId} --parameters '{"product":"tea"}'`,
      `shoal flows run ${exampleId} --table '[{"product":"tea"},{"product":"milk"}]' --concurrency 2`,
      `shoal flows run ${exampleId} --session research`,
    ],
  },
  "flows.runs.list": {
    summary: "List runs of a flow",
    about: "Newest first.",
    columns: [id, ["VERSION", "flow_version"], ["STATUS", "status"], ["ROWS", "row_count"], ["CREATED", "created_at"]],
    empty: "No runs. Start one: shoal flows run FLOW",
    examples: [`shoal flows runs list ${exampleId}`],
  },
  "flows.runs.get": {
    summary: "Show a run with the steps of its rows",
    help: { wait_seconds: "Seconds to wait for its end, 0 to 50" },
    flags: { wait_seconds: "--wait" },
    first: ["id", "status"],
    examples: [`shoal flows runs get ${exampleId} ${runId} --wait 50`],
  },
  "flows.runs.picture": {
    summary: "Download the picture of a step whose page differed",
    about: "A JPEG, for steps with has_picture in shoal flows runs get.",
    help: {
      row: "Position of the row, from 0; default: 0",
      step: "Position of the step, from 0; -1 = opening the start page; default: the first with a picture",
    },
    examples: [`shoal flows runs picture ${exampleId} ${runId} --step 2 -f step.jpg`],
  },
  "flows.runs.cancel": {
    summary: "Cancel a run of a flow",
    about: "A step that has begun may have acted.",
    first: ["id", "status"],
    examples: [`shoal flows runs cancel ${exampleId} ${runId}`],
  },
  "flows.export": {
    summary: "Download a flow as JSON or as a Playwright test",
    about: "The test reads parameters and secrets from environment variables FLOW_NAME.",
    help: { format: "json, playwright_ts or playwright_python", version: versionHelp },
    examples: [`shoal flows export ${exampleId} --format playwright_ts -f order.spec.ts`],
  },
};
