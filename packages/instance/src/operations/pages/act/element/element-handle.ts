import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { NodeAddress } from "../../follow/followed-page.ts";
import type { ActRun } from "../act-run.ts";

type Argument = string | number | boolean | null | readonly (string | number)[];

/** An element in its document's isolated world, where the page's scripts cannot interfere. */
export class ElementHandle {
  readonly run: ActRun;
  readonly address: NodeAddress;
  readonly objectId: string;

  constructor(run: ActRun, address: NodeAddress, objectId: string) {
    this.run = run;
    this.address = address;
    this.objectId = objectId;
  }

  /** Returns `undefined` when the element has gone. */
  static async at(run: ActRun, address: NodeAddress): Promise<ElementHandle | undefined> {
    const { backendNodeId, target } = address;
    const { cdp } = run.page;
    const executionContextId = await worldIn(run, address);
    if (executionContextId === undefined) return undefined;
    const answer = await run.ask(cdp.send("DOM.resolveNode", { backendNodeId, executionContextId }, target.sessionId));
    const objectId = answer?.object.objectId;
    return objectId === undefined ? undefined : new ElementHandle(run, address, objectId);
  }

  /**
   * Calls a function with the element as `this` and awaits its promise. Returns `undefined` when the element has gone.
   * The function's result must have the type `T`; it runs in a page, so callers check values that matter.
   */
  async call<T>(declaration: string, ...values: readonly Argument[]): Promise<T | undefined> {
    const answer = await this.#call(declaration, values, true);
    return answer?.exceptionDetails === undefined ? (answer?.result.value as T | undefined) : undefined;
  }

  /** Calls a function that returns another node of the same document, or nothing. */
  async related(declaration: string, ...values: readonly Argument[]): Promise<ElementHandle | undefined> {
    const answer = await this.#call(declaration, values, false);
    const objectId = answer?.result.objectId;
    if (objectId === undefined || answer?.result.subtype !== "node") return undefined;
    return handleOf(this.run, this.address, objectId);
  }

  #call(
    functionDeclaration: string,
    values: readonly Argument[],
    returnByValue: boolean,
  ): Promise<Protocol.Runtime.CallFunctionOnResponse | undefined> {
    const params = {
      functionDeclaration,
      objectId: this.objectId,
      arguments: values.map((value) => ({ value })),
      returnByValue,
      awaitPromise: true,
      userGesture: true,
    };
    const { sessionId } = this.address.target;
    return this.run.ask(this.run.page.cdp.send("Runtime.callFunctionOn", params, sessionId));
  }
}

type Place = Omit<NodeAddress, "backendNodeId">;

/** Returns the isolated world of a document; `undefined` when its frame has gone. */
export async function worldIn(run: ActRun, { frameId, target }: Place): Promise<number | undefined> {
  const world = await run.ask(
    // With a name, each call returns the same world.
    run.page.cdp.send("Page.createIsolatedWorld", { frameId, worldName: "shoal-page" }, target.sessionId),
  );
  return world?.executionContextId;
}

/** Returns a node of a document by its remote object. */
export async function handleOf(run: ActRun, place: Place, objectId: string): Promise<ElementHandle | undefined> {
  const { frameId, loaderId, target } = place;
  const described = await run.ask(run.page.cdp.send("DOM.describeNode", { objectId }, target.sessionId));
  if (described === undefined) return undefined;
  const { backendNodeId } = described.node;
  return new ElementHandle(run, { target, frameId, loaderId, backendNodeId }, objectId);
}

/** Returns the root element of the page; `undefined` while another document replaces it. */
export async function mainDocument(run: ActRun): Promise<ElementHandle | undefined> {
  const { cdp, targets } = run.page;
  const [target] = targets;
  if (target === undefined) return undefined;
  const place = { target, frameId: run.page.mainFrameId, loaderId: "" };
  const contextId = await worldIn(run, place);
  if (contextId === undefined) {
    await run.page.findMainFrame();
    return undefined;
  }
  const answer = await run.ask(
    cdp.send("Runtime.evaluate", { expression: "document.documentElement", contextId }, target.sessionId),
  );
  const objectId = answer?.result.objectId;
  // Without a reference: it is used for calls only.
  return objectId === undefined ? undefined : new ElementHandle(run, { ...place, backendNodeId: 0 }, objectId);
}
