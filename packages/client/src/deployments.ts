import { createDeployment, deleteDeployment, followDeployment, getDeployment, listDeployments, type MultipartInput } from "@shoal/contract";
import type { CreateDeployment, Deployment, DeploymentEvent, FollowDeployment, ListDeployments } from "@shoal/schemas";
import type { CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";
import { waitFor, type WaitOptions } from "./wait.ts";

/** Sources that become versions of apps. */
export class Deployments {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Deploys an archive, or a repository by its address. Answers at once, with the state `queued`; {@link Deployments.wait} tells what becomes of it.
   *
   * @example
   * const { id } = await shoal.deployments.create({ file: zip, entrypoint_rel_path: "index.ts" });
   * const deployment = await shoal.deployments.wait(id, { onEvent: (event) => console.log(event) });
   *
   * @throws {ApiError} 409 for a version that exists, without `force`; 413 for an archive that is too large.
   */
  create(body: MultipartInput<CreateDeployment>, options?: CallOptions): Promise<Deployment> {
    return this.#transport.call(createDeployment, { body }, options);
  }
  /** Lists deployments, newest first. `for await` over the page gives all of them, page by page. */
  list(query: ListDeployments = {}, options?: CallOptions): Promise<ItemPage<Deployment>> {
    return this.#transport.call(listDeployments, { query }, options);
  }
  /** Finds a deployment. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Promise<Deployment> {
    return this.#transport.call(getDeployment, { params: { id } }, options);
  }
  /** Deletes a deployment, after stopping it if it runs. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this.#transport.call(deleteDeployment, { params: { id } }, options);
  }
  /** Yields states, log lines and the app versions that are made, from `query.since` on; goes on after a lost connection; ends when the deployment has failed or was stopped. */
  follow(id: string, query: FollowDeployment = {}, options?: StreamOptions): EventStream<DeploymentEvent> {
    return this.#transport.stream(followDeployment, { params: { id }, query }, options);
  }
  /**
   * Waits until a deployment can be invoked, or never will be: until its `status` is `running`, `failed` or `stopped`.
   *
   * @returns the deployment, whichever it is; look at its `status`.
   * @throws {TimeoutError} after `options.totalTimeoutMs`; {@link ApiError} 404 `not_found`; the signal's reason after an abort.
   */
  wait(id: string, options: WaitOptions<Deployment, DeploymentEvent> = {}): Promise<Deployment> {
    return waitFor<Deployment, DeploymentEvent>(
      {
        operation: "deployments.wait",
        get: (callOptions) => this.get(id, callOptions),
        follow: (streamOptions) => this.follow(id, {}, streamOptions),
        stateOf: (event) => (event.event === "deployment_state" ? event.deployment : undefined),
        statusOf: ({ status }) => status,
        isFinal: ({ status }) => status === "running" || status === "failed" || status === "stopped",
      },
      options,
    );
  }
}
