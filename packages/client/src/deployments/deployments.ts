import {
  createDeployment,
  deleteDeployment,
  followDeployment,
  getDeployment,
  listDeployments,
  rollbackDeployment,
} from "@shoal/contract";
import type { MultipartInput } from "@shoal/contract/endpoint";
import type { CreateDeployment, Deployment, DeploymentEvent, FollowDeployment, ListDeployments } from "@shoal/schemas";
import type { Call, CallOptions, EventStream, ItemPage, StreamOptions, Transport } from "@shoal/transport";
import { waitFor, type WaitOptions } from "./wait.ts";

/** Deployments, which turn source code into app versions. */
export class Deployments {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Deploys an archive, or a repository by its URL. Resolves immediately with status `queued`; {@link wait} returns the result.
   *
   * @example
   * const { id } = await shoal.deployments.create({ file: zip, entrypoint_rel_path: "index.ts" });
   * const deployment = await shoal.deployments.wait(id, { onEvent: (event) => console.log(event) });
   *
   * @throws {ApiError} 409 for an existing version without `force`; 413 for an archive that is too large.
   */
  create(body: MultipartInput<CreateDeployment>, options?: CallOptions): Call<Deployment> {
    return this.#transport.call(createDeployment, { body }, options);
  }
  /** Lists deployments, newest first. `for await` iterates over all pages. */
  list(query: ListDeployments = {}, options?: CallOptions): Call<ItemPage<Deployment>> {
    return this.#transport.call(listDeployments, { query }, options);
  }
  /** Gets a deployment. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<Deployment> {
    return this.#transport.call(getDeployment, { params: { id } }, options);
  }
  /** Deletes a deployment; stops a running one first. @throws {ApiError} 404 `not_found`. */
  delete(id: string, options?: CallOptions): Call<void> {
    return this.#transport.call(deleteDeployment, { params: { id } }, options);
  }
  /**
   * Runs an earlier deployment again from its stored build, in place of the running one with the same label.
   * @throws {ApiError} 404 `not_found`; 409 `conflict` if it runs already, has never run, or its build was removed.
   */
  rollback(id: string, options?: CallOptions): Call<Deployment> {
    return this.#transport.call(rollbackDeployment, { params: { id } }, options);
  }
  /** Yields statuses, log lines and created app versions, starting at `query.since`; resumes after a lost connection; ends when the deployment has failed or stopped. */
  follow(id: string, query: FollowDeployment = {}, options?: StreamOptions): EventStream<DeploymentEvent> {
    return this.#transport.stream(followDeployment, { params: { id }, query }, options);
  }
  /** Waits until the `status` of a deployment is `running`, `failed` or `stopped`, and returns the deployment. @throws {TimeoutError} after `options.totalTimeoutMs`; {@link ApiError} 404 `not_found`. */
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
