import { createId } from "@shoal/primitives";
import { Flow, FlowRun } from "@shoal/schemas";
import { beforeEach } from "vitest";
import { useFlowServer, type FlowServer } from "./flow-server.ts";

export const save = { role: "button", name: "Save" };
export const saveStep = { action: "click", target: save, timeout_ms: 60_000 };
/** Of a step for which the page has no element: enough on a busy machine, and the test waits for its end. */
export const shortTimeoutMs = 5_000;
export const saveButton = `<button id="save" onclick="fetch('/saved'); document.title = 'saved'">`;
/** Shows a button once {@link PageRuns.isSaveShown}. */
export const buttonOnRequest = `<p></p><script>
  const look = async () => {
    if ((await (await fetch("/shown")).text()) !== "true") setTimeout(look, 50);
    else document.querySelector("p").outerHTML = "<button>Save</button>";
  };
  look();
</script>`;

/** Runs of flows on a site of one page. Create it in a test file. */
export class PageRuns {
  html = "";
  /** Paths of the requests of {@link saveButton} in this test. */
  submitted: string[] = [];
  /** Whether pages with {@link buttonOnRequest} show their button. */
  isSaveShown = false;
  readonly flows: FlowServer = useFlowServer((request, response) => {
    if (request.url?.startsWith("/saved") === true) this.submitted.push(request.url);
    if (request.url === "/shown") {
      response.end(String(this.isSaveShown));
      return;
    }
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>page</title>${this.html}`);
  });

  constructor() {
    beforeEach(() => {
      this.submitted = [];
      this.isSaveShown = false;
    });
  }

  /** Returns the identifier of a new flow. */
  async flowOf(steps: readonly object[], parameters: readonly object[] = []): Promise<string> {
    const body = { name: createId(), start_url: `${this.flows.base}/`, steps, parameters };
    return Flow.parse(await this.flows.call("POST", "/flows", body)).id;
  }

  async start(id: string, body: object = {}): Promise<FlowRun> {
    return FlowRun.parse(await this.flows.call("POST", `/flows/${id}/runs`, body));
  }

  async ended(run: FlowRun): Promise<FlowRun> {
    let seen = run;
    while (seen.status === "running")
      seen = FlowRun.parse(await this.flows.call("GET", `/flows/${run.flow_id}/runs/${run.id}?wait_seconds=50`));
    return seen;
  }
}
