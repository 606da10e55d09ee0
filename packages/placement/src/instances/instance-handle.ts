import {
  type InstanceEvent,
  instanceControl,
  type AssignInstance,
  type RestQuestion,
  type RestReport,
} from "@shoal/instance";
import { anySignal, hasCode, messageOf } from "@shoal/primitives";
import pTimeout from "p-timeout";
import type { Box, Dial, Exit } from "../boxes/box.ts";
import type { SharedPlace } from "../boxes/shared-place.ts";
import type {
  EgressProxyRoute,
  EgressRules,
  EgressUpstream,
  ExitHeaders,
  RuleSource,
  RequestSigner,
  TransferredBytes,
} from "../interface/egress.ts";
import type {
  ChromePolicies,
  Instance,
  InstanceCopy,
  InstanceEnd,
  InstanceRequest,
  PlacementKind,
} from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { answerText } from "../streams/answer-text.ts";
import type { InstanceSleep } from "../interface/sleep.ts";
import { insomniac, Sleeper } from "../sleep/sleeper.ts";
import { assignInstance, assignMs, type AssignOptions, deadlineOf, isOwnFault } from "./assign-instance.ts";
import { callInstance, streamFromInstance } from "./call-instance.ts";
import { answerOf } from "./instance-answer.ts";
import { AnswerWatch } from "./channel/answer-watch.ts";
import { instanceEndOf } from "./channel/instance-end.ts";
import { isOwnStream, readEvents } from "./channel/instance-event.ts";
import { createInstanceAgent } from "./instance-connection.ts";
import { storeInstance, type StoredInstance } from "./stored-instance.ts";
import { type Agent, type IncomingMessage, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";

export interface InstanceHandleOptions {
  readonly box: Box;
  readonly kind: PlacementKind;
  readonly dial: Dial;
  readonly log: PlacementLog;
  readonly onCopy?: ((copy: Promise<StoredInstance>) => void) | undefined;
  readonly lastLines: () => string;
  /** Milliseconds from the first byte to the end of the head; 10,000 by default. */
  readonly headMs?: number;
  /** Milliseconds to each question to an instance that does not answer a caller; 30,000 by default. */
  readonly silentMs?: number;
}

const graceMs = 2_000;
/** For an instance to report whether it may sleep. */
const restMs = 5_000;

export class InstanceHandle implements Instance {
  readonly id: string;
  readonly pid: number | undefined;
  readonly kind: PlacementKind;
  wasWarm = false;
  /** Rejects when the instance ends before its browser answers. */
  readonly ready: Promise<void>;
  readonly ended: Promise<InstanceEnd>;
  readonly #options: InstanceHandleOptions;
  readonly #box: Box;
  readonly #agent: Agent;
  readonly #sleeper: Sleeper | undefined;
  readonly #watch: AnswerWatch;
  readonly #listeners = new Set<(event: InstanceEvent) => void>();
  readonly #becameReady = Promise.withResolvers<void>();
  #end: InstanceEnd | undefined;
  #isOver = false;
  #isDistrusted = false;
  #upstream: EgressUpstream | undefined;
  #project = "";
  #exitHeaders: ExitHeaders | undefined;
  #stopping: Promise<void> | undefined;

  constructor(options: InstanceHandleOptions) {
    const { box, dial, kind } = options;
    this.#options = options;
    this.#box = box;
    this.id = box.id;
    this.pid = box.pid;
    this.kind = kind;
    this.#agent = createInstanceAgent(dial);
    this.#sleeper = this.#openSleeper();
    this.#watch = new AnswerWatch({
      everyMs: options.silentMs,
      sleep: this.#sleeper,
      ask: (signal) => this.#rest({}, signal),
      distrust: this.#distrust,
    });
    this.ready = this.#becameReady.promise;
    this.ready.catch(() => undefined);
    this.ended = box.gone.then((exit) => this.#onGone(exit));
    void this.#followEvents();
  }

  get sleep(): InstanceSleep {
    return this.#sleeper ?? insomniac;
  }

  get upstream(): EgressUpstream | undefined {
    return this.#upstream;
  }

  transferred(): TransferredBytes {
    return this.#box.egress.transferred();
  }

  async request(init: InstanceRequest, body?: Readable | string): Promise<IncomingMessage> {
    if (isOwnStream(init)) return this.#send(init, body);
    const finish = this.#sleeper?.begin(init.isVisit === true);
    const endWait = this.#watch.begin();
    try {
      const answer = await this.#send(init, body);
      endWait(true);
      if (finish !== undefined) answer.once("close", finish);
      return answer;
    } catch (error) {
      endWait(false);
      finish?.();
      throw error;
    }
  }

  async #send(init: InstanceRequest, body?: Readable | string): Promise<IncomingMessage> {
    if (this.#isOver) throw this.#lost();
    const { method, path, headers, signal } = init;
    const { headMs = 10_000 } = this.#options;
    const outgoing = httpRequest({
      agent: this.#agent,
      method,
      path,
      ...(headers && { headers }),
      ...(signal && { signal }),
    });
    const answering = answerOf(outgoing, headMs);
    if (body === undefined || typeof body === "string") outgoing.end(body);
    else
      pipeline(body, outgoing, (error) => {
        if (error) outgoing.destroy(error);
      });
    try {
      return await answering;
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason instanceof Error ? signal.reason : error;
      // The instance may close a kept-alive connection at the moment of its reuse.
      const isRepeatable = outgoing.reusedSocket && body === undefined && (method === "GET" || method === "HEAD");
      if (isRepeatable && !this.#hasEnded() && hasCode(error, "ECONNRESET")) return this.#send(init);
      throw this.#lost(error);
    }
  }

  async connect(): Promise<Socket> {
    if (this.#isOver) throw this.#lost();
    this.#sleeper?.touch();
    try {
      const socket = await this.#options.dial();
      this.#watch.followConnection(socket);
      return socket;
    } catch (error) {
      throw this.#lost(error);
    }
  }

  /** Makes the next {@link assign} faster; assigns nothing. Never rejects. */
  async rehearse(): Promise<void> {
    const { method, path } = instanceControl.assign;
    try {
      await answerText(await this.request({ method, path, signal: AbortSignal.timeout(assignMs) }, ""));
    } catch {
      // An instance that does not answer is noticed by its end, or by the assignment.
    }
  }

  async assign(assign: AssignInstance, { files, signal }: AssignOptions = {}): Promise<void> {
    const deadline = AbortSignal.timeout(deadlineOf(assign, files));
    try {
      await assignInstance(this, assign, {
        files,
        signal: signal === undefined ? deadline : anySignal([signal, deadline]),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw isOwnFault(error) || deadline.aborted ? this.#lost(error) : error;
    }
  }

  setUpstream(upstream: EgressUpstream | undefined): void {
    this.#box.egress.setUpstream(upstream);
    this.#upstream = upstream;
  }

  get exitHeaders(): ExitHeaders | undefined {
    return this.#exitHeaders;
  }

  setExitHeaders(headers: ExitHeaders | undefined): void {
    this.#box.egress.setHeaders(headers);
    this.#exitHeaders = headers;
  }

  setPrivateHosts(hosts: readonly string[]): void {
    this.#box.egress.setPrivateHosts(hosts);
  }

  setProject(project: string): void {
    this.#project = project;
    this.#box.egress.setProject(project);
  }

  setSigner(signer: RequestSigner): void {
    this.#box.egress.setSigner(signer);
  }

  setRules(source: RuleSource, rules: EgressRules | undefined): void {
    this.#box.egress.setRules(source, rules);
  }

  setProxyRoutes(routes: readonly EgressProxyRoute[]): void {
    this.#box.egress.setProxyRoutes(routes);
  }

  setPolicies(policies: ChromePolicies): Promise<string> {
    return this.#box.setPolicies(policies);
  }

  async setLocale(locale: string): Promise<void> {
    await this.#box.setLocale?.(locale);
  }

  setMemory(bytes: number): Promise<void> {
    return this.#box.setMemory(bytes);
  }

  copy(signal?: AbortSignal): Promise<InstanceCopy> {
    const finish = this.#sleeper?.begin(false);
    // Its processes are stopped meanwhile.
    const release = this.#watch.hold();
    const { log, onCopy } = this.#options;
    const wishes = { kind: this.kind, log, project: this.#project, signal };
    const copy = storeInstance(this.#box, { ...wishes, ask: this.#rest }).finally(() => {
      release();
      finish?.();
    });
    onCopy?.(copy);
    return copy;
  }

  letOut(): void {
    this.#box.letOut?.();
  }

  /** Not a use of the instance. */
  readonly #rest = (question: RestQuestion, signal = AbortSignal.timeout(restMs)): Promise<RestReport> =>
    callInstance({ request: (init, body) => this.#send(init, body) }, instanceControl.reportRest, {
      body: question,
      signal,
    });

  /** @throws {PlacementError} `bad_option` if sessions cannot share this instance. */
  openShared(id: string): Promise<SharedPlace> {
    if (this.#box.openShared === undefined)
      throw new PlacementError("bad_option", "isolation: sessions of this placement cannot share a browser.");
    return this.#box.openShared(id);
  }

  onEvent(listener: (event: InstanceEvent) => void): () => void {
    const own = (event: InstanceEvent): void => {
      listener(event);
    };
    if (!this.#isOver) this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  #openSleeper(): Sleeper | undefined {
    const { box, log } = this.#options;
    const { freezer } = box;
    if (freezer === undefined) return undefined;
    return new Sleeper({
      freezer,
      log,
      ask: (question) => this.#rest(question),
      onStuck: (error) => {
        this.#distrust(`The instance was ended: it cannot continue after its sleep (${String(error)}).`);
      },
    });
  }

  async #stop(): Promise<void> {
    if (this.#box.asksToEnd && !this.#isOver)
      await pTimeout(this.#askToEnd(), { milliseconds: graceMs, fallback: () => undefined });
    this.#box.kill();
    await this.ended;
  }

  async #askToEnd(): Promise<void> {
    try {
      await callInstance(this, instanceControl.stop, { signal: AbortSignal.timeout(graceMs) });
    } catch {
      this.#box.kill();
    }
    await this.#box.gone;
  }

  async #followEvents(): Promise<void> {
    try {
      this.#follow(await streamFromInstance(this, instanceControl.followEvents, {}));
    } catch (error) {
      if (!this.#hasEnded()) this.#distrust(`The instance was ended: its control channel failed (${String(error)}).`);
    }
  }

  #follow(answer: IncomingMessage): void {
    readEvents(answer, {
      isOver: () => this.#isOver || this.#isDistrusted,
      distrust: this.#distrust,
      onEvent: (event) => {
        this.#onEvent(event);
      },
    });
    answer.on("close", () => {
      // Without the channel, the end of the session would go unnoticed. It closes a moment before a regular end.
      setTimeout(() => {
        if (!this.#isOver && this.#stopping === undefined)
          this.#distrust("The instance was ended: it closed its control channel.");
      }, graceMs).unref();
    });
  }

  #onEvent(event: InstanceEvent): void {
    if (event.type === "ready" || (event.type === "state" && event.browser === "ready")) this.#becameReady.resolve();
    if (event.type === "ending")
      this.#end ??= { reason: event.reason, ...(event.detail !== undefined && { detail: event.detail }) };
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#options.log.error(
          { instance_id: this.id, error: String(error) },
          "A listener for an instance's events failed.",
        );
      }
    }
  }

  readonly #distrust = (why: string): void => {
    if (this.#isDistrusted) return;
    this.#isDistrusted = true;
    this.#end ??= { reason: "instance_lost", detail: why };
    this.#options.log.warn({ instance_id: this.id }, why);
    this.#box.kill();
  };

  async #onGone(exit: Exit): Promise<InstanceEnd> {
    this.#isOver = true;
    this.#listeners.clear();
    this.#sleeper?.close();
    this.#watch.close();
    this.#agent.destroy();
    this.#becameReady.reject(this.#lost());
    try {
      await this.#box.clear();
    } catch (error) {
      this.#options.log.error(
        { instance_id: this.id, error: String(error) },
        "Cannot remove the files of an ended instance.",
      );
    }
    if (this.#stopping !== undefined) return this.#end ?? { reason: "stopped" };
    return instanceEndOf(exit, this.#end, this.#options.lastLines());
  }

  /** A method, so that TypeScript does not narrow across an `await`. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  #lost(cause?: unknown): PlacementError {
    const reason = cause === undefined ? "it has ended" : messageOf(cause);
    return new PlacementError("instance_lost", `Instance ${this.id} does not answer: ${reason}.`, { cause });
  }
}
