import { remoteProtocols } from "@shoal/instance";
import { messageOf } from "@shoal/primitives";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, Dial, Exit } from "../boxes/box.ts";
import type { InstanceFiles } from "../boxes/instance-files.ts";
import type { EgressControls } from "../interface/egress.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { announcementOf } from "../remote/announcement.ts";
import { EgressLink } from "../remote/egress-link.ts";
import { connectRemote, type RemoteAddress } from "../remote/remote-connection.ts";
import { readBoundedLines } from "../streams/bounded-lines.ts";
import { type Cluster, ClusterError, explainAway } from "./cluster.ts";
import type { Pod, Sandbox, SandboxClaim } from "./objects.ts";
import { containerName } from "./pod-spec.ts";
import { deletionReason, podState } from "./pod-state.ts";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export interface KubernetesBoxParts {
  readonly cluster: Cluster;
  readonly name: string;
  readonly files: InstanceFiles;
  readonly identity: TlsIdentity;
  /** Deletes the object of the box. */
  readonly remove: () => Promise<void>;
  /** Calls when the box is over. */
  readonly onGone: () => void;
  readonly log: PlacementLog;
}

const maxLineBytes = 4_096;
/** Reasons with which agent-sandbox refuses a claim for good. */
const refusals: ReadonlySet<string | undefined> = new Set([
  "WarmPoolNotFound",
  "TemplateNotFound",
  "InvalidMetadata",
  "EnvVarsInjectionRejected",
  "VolumeClaimTemplatesError",
]);
/** A pod that has just started can be unreachable for about a second. */
const unreachable: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"]);
const redialMs = 100;
/** Milliseconds for Kubernetes to report the end of a deleted pod. */
const removalMs = 60_000;

export class KubernetesBox implements Box {
  readonly id: string;
  readonly pid = undefined;
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  /** The node's kubelet ends all processes of a pod together. */
  readonly asksToEnd = false;
  readonly #parts: KubernetesBoxParts;
  readonly #ended = Promise.withResolvers<Exit>();
  readonly #reading = new AbortController();
  #podName: string | undefined;
  #host: string | undefined;
  #address: RemoteAddress | undefined;
  #link: EgressLink | undefined;
  /** Why it does not run yet. */
  #obstacle: string | undefined;
  #lacksCapacity = false;
  #isKilled = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: string, parts: KubernetesBoxParts) {
    this.id = id;
    this.egress = parts.files.egress;
    this.#parts = parts;
    this.gone = this.#follow();
  }

  /** The newest report about its pod. */
  podChanged(pod: Pod, isDeleted: boolean): void {
    this.#podName = pod.metadata?.name;
    const state = podState(pod);
    if (state.phase === "ended") this.#finish(state.reason, state.code);
    else if (isDeleted) this.#finish(deletionReason(pod));
    else if (state.phase === "running") this.#read(state.address);
    else if (state.reason !== undefined) {
      this.#obstacle = state.reason;
      this.#lacksCapacity = state.lacksCapacity === true;
      if (state.isFinal) this.kill();
    }
  }

  /** The newest report about its sandbox or its claim. */
  ownerChanged({ status }: Sandbox | SandboxClaim, isDeleted: boolean): void {
    const ready = status?.conditions?.find(({ type }) => type === "Ready");
    if (this.#podName === undefined && ready?.status === "False" && ready.message !== undefined) {
      const message = ready.message.slice(0, 500).replace(/(?<!\.)\.+$/, "");
      this.#obstacle = `its pod is not ready (${ready.reason ?? "NotReady"}): ${message}`;
      if (refusals.has(ready.reason)) this.kill();
    }
    // Without a pod, nothing else will report the end.
    if (isDeleted && this.#podName === undefined) this.#finish("it was deleted outside of the service");
  }

  kill(): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    this.#remove();
    this.#timer = setTimeout(() => {
      const { log, name } = this.#parts;
      log.warn({ instance_id: this.id, name }, "Kubernetes does not report the end of a deleted pod.");
      this.#finish(undefined);
    }, removalMs);
  }

  async reach(): Promise<Dial> {
    const address = this.#address;
    if (address === undefined) throw new Error("The instance does not listen.");
    const { files, identity } = this.#parts;
    const dial = (): ReturnType<Dial> => connectRemote(address, identity, remoteProtocols.instance);
    const first = await this.#dialNewPod(dial);
    const sockets = { egress: files.egressSocket, api: files.apiSocket };
    this.#link = new EgressLink({ address, identity, sockets });
    this.#link.open();
    const waiting = [first];
    return () => {
      const socket = waiting.pop();
      return socket?.destroyed === false ? Promise.resolve(socket) : dial();
    };
  }

  /** Tries again while the network plugin makes the way to a new pod, until the box is over. */
  async #dialNewPod(dial: () => ReturnType<Dial>): ReturnType<Dial> {
    for (;;) {
      try {
        return await dial();
      } catch (error) {
        if (this.#isKilled || !isUnreachable(error)) throw error;
        await sleep(redialMs);
      }
    }
  }

  setPolicies(): Promise<string> {
    return Promise.reject(new PlacementError("bad_option", "Sessions in Kubernetes cannot have policies."));
  }

  async setMemory(bytes: number): Promise<void> {
    const { cluster } = this.#parts;
    try {
      await cluster.resize(this.#podName ?? "", containerName, String(bytes));
    } catch (error) {
      const explained = explainAway(error);
      if (PlacementError.isInstance(explained)) throw explained;
      const isUnknown = error instanceof ClusterError && (error.status === 404 || error.status === 405);
      throw new PlacementError(
        "start_failed",
        isUnknown
          ? "This cluster cannot change the memory of a pod; `memory` needs Kubernetes 1.33 or later."
          : `Kubernetes refuses to limit the memory of an instance to ${String(bytes)} bytes: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }

  async clear(): Promise<void> {
    await this.#parts.files.clear();
  }

  #finish(reason: string | undefined, code: number | null = null): void {
    const lacksCapacity = this.#isKilled && this.#address === undefined && this.#lacksCapacity;
    this.#ended.resolve({ code, signal: null, reason: this.#reason(reason), lacksCapacity });
  }

  #reason(reason: string | undefined): string | undefined {
    const { name } = this.#parts;
    if (this.#isKilled)
      return this.#address === undefined && this.#obstacle !== undefined
        ? `Pod ${name}: ${this.#obstacle}.`
        : undefined;
    return reason === undefined ? undefined : `Pod ${name}: ${reason}.`;
  }

  #read(host: string): void {
    if (this.#host !== undefined || this.#podName === undefined) return;
    this.#host = host;
    const printed = this.#parts.cluster.logs(this.#podName, containerName, this.#reading.signal);
    readBoundedLines(printed, maxLineBytes, (line) => {
      this.#take(host, line);
    });
  }

  /** The API server is the channel that proves the key: nothing but the instance program has run in the pod yet. */
  #take(host: string, line: string): void {
    const announced = this.#address === undefined ? announcementOf(line) : undefined;
    if (announced?.port === undefined) {
      if (!this.stderr.writableNeedDrain) this.stderr.write(`${line}\n`);
      return;
    }
    this.#address = { host, port: announced.port, pin: announced.pin };
    this.stdout.write('{"listening":true}\n');
  }

  #remove(): void {
    const { log, name, remove } = this.#parts;
    remove().catch((error: unknown) => {
      const fields = { instance_id: this.id, name, error: messageOf(error) };
      log.error(
        fields,
        "Cannot delete a pod. It ends a minute after its last connection, and a server deletes it then.",
      );
      this.#finish(undefined);
    });
  }

  async #follow(): Promise<Exit> {
    const exit = await this.#ended.promise;
    clearTimeout(this.#timer);
    this.#link?.close();
    this.#reading.abort();
    this.stdout.end();
    this.stderr.end();
    if (!this.#isKilled) this.#remove();
    this.#parts.onGone();
    return exit;
  }
}

function isUnreachable(error: unknown): boolean {
  return error instanceof Error && "code" in error && unreachable.has(error.code);
}
