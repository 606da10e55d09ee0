import {
  createDeployment,
  createInvocation,
  followDeployment,
  followInvocation,
  getDeployment,
  getInvocation,
} from "@shoal/contract";
import { ServiceError, withStatus } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import type { Deployment, DeploymentEvent, InvocationEvent } from "@shoal/schemas";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const timestamp = "2026-01-31T12:00:00.123456789Z";

export interface AppService extends AsyncDisposable {
  readonly baseUrl: string;
  /** `METHOD /path` of every request. */
  readonly requests: readonly string[];
  /** Parts of the last deployment: text, or the size of a file in bytes. */
  readonly parts: ReadonlyMap<string, string | number>;
  /** Answer of `deployments.get`. */
  deployment: Deployment;
  /** Both streams send them and then end. */
  events: (DeploymentEvent | InvocationEvent)[];
  /** After their events, the streams end, stay silent, or fail with this status before any event. */
  afterwards: "end" | "silence" | number;
}

/** Starts the real router with an app platform that the test controls. */
export async function startAppService(): Promise<AppService> {
  const requests: string[] = [];
  const parts = new Map<string, string | number>();
  const state: Pick<AppService, "deployment" | "events" | "afterwards"> = {
    deployment: { id: "d1", status: "queued", region: "aws.us-east-1a", created_at: timestamp },
    events: [],
    afterwards: "end",
  };
  const invocation = { id: "i1", action_name: "price", status: "succeeded", output: "7" };

  function eventsFor(signal: AbortSignal): AsyncIterable<{ id: string; data: DeploymentEvent & InvocationEvent }> {
    const { afterwards } = state;
    if (typeof afterwards === "number")
      throw new ServiceError(afterwards, afterwards === 404 ? "not_found" : "not_implemented", "No events here.");
    return (async function* () {
      // Each test reads only one kind of stream and sets matching events.
      for (const [index, data] of (state.events as (DeploymentEvent & InvocationEvent)[]).entries())
        yield { id: String(index + 1), data };
      if (afterwards === "silence") {
        await new Promise((resolve) => {
          signal.addEventListener("abort", resolve);
        });
      }
    })();
  }

  const router = new HttpRouter({ context: ({ method = "", url = "" }) => void requests.push(`${method} ${url}`) });
  router.mountAll(
    { createDeployment, createInvocation, followDeployment, followInvocation, getDeployment, getInvocation },
    {
      async createDeployment({ body }) {
        parts.clear();
        for await (const part of body) {
          if (part.kind === "field") parts.set(part.name, part.value);
          else {
            let sizeBytes = 0;
            for await (const chunk of part.stream) sizeBytes += (chunk as Buffer).length;
            parts.set(part.name, sizeBytes);
          }
        }
        return state.deployment;
      },
      createInvocation: ({ body }) =>
        body.async ? withStatus(202, { ...invocation, status: "queued", output: undefined }) : invocation,
      followDeployment: ({ signal }) => eventsFor(signal),
      followInvocation: ({ signal }) => eventsFor(signal),
      getDeployment: ({ params }) => {
        if (params.id !== state.deployment.id)
          throw new ServiceError(404, "not_found", "The deployment was not found.");
        return state.deployment;
      },
      getInvocation: () => ({ ...invocation, app_name: "shop", version: "latest", started_at: timestamp }),
    },
  );
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    parts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
