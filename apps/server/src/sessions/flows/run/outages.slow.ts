import { createId } from "@shoal/primitives";
import { Flow, FlowRun } from "@shoal/schemas";
import { expect, it } from "vitest";
import { useFlowServer } from "../testing/flow-server.ts";

const flows = useFlowServer(
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>page</title><p>saved</p>");
  },
  { proxied: true },
);
const { call } = flows;

// Statements that a connection has prepared have no text any more, so one test has one cut.
it("stores the end of a run when the connection to the database breaks at that moment", async () => {
  const steps = [{ action: "expect", expect: [{ text: "saved" }] }];
  const flow = Flow.parse(await call("POST", "/flows", { name: createId(), start_url: `${flows.base}/`, steps }));
  const cut = flows.server.proxy?.cutAt('update "flow_runs"', "before");
  let run = FlowRun.parse(await call("POST", `/flows/${flow.id}/runs`, {}));
  await cut;
  while (run.status === "running")
    run = FlowRun.parse(await call("GET", `/flows/${flow.id}/runs/${run.id}?wait_seconds=50`));
  expect(run.rows.map(({ status, error }) => [status, error])).toEqual([["succeeded", null]]);
  expect(run.status).toBe("succeeded");
});
