import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CommandSender, NodeAddress } from "./followed-page.ts";

type Argument = string | number | boolean | null | readonly (string | number)[];

/** An element in its document's isolated world, where the page's scripts cannot interfere. */
export class ElementHandle {
  readonly sender: CommandSender;
  readonly address: NodeAddress;
  readonly objectId: string;

  constructor(sender: CommandSender, address: NodeAddress, objectId: string) {
    this.sender = sender;
    this.address = address;
    this.objectId = objectId;
  }

  /** Returns `undefined` when the element has gone. */
  static async at(sender: CommandSender, address: NodeAddress): Promise<ElementHandle | undefined> {
    const { backendNodeId, target } = address;
    const { cdp } = sender.page;
    const executionContextId = await worldIn(sender, address);
    if (executionContextId === undefined) return undefined;
    const answer = await sender.ask(
      cdp.send("DOM.resolveNode", { backendNodeId, executionContextId }, target.sessionId),
    );
    const objectId = answer?.object.objectId;
    return objectId === undefined ? undefined : new ElementHandle(sender, address, objectId);
  }

  /** Like {@link ElementHandle.at}, for an element that is in its document. */
  static async connectedAt(sender: CommandSender, address: NodeAddress): Promise<ElementHandle | undefined> {
    const element = await ElementHandle.at(sender, address).catch(() => undefined);
    return (await element?.call("function () { return this.isConnected; }")) === true ? element : undefined;
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
    return handleOf(this.sender, this.address, objectId);
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
    return this.sender.ask(this.sender.page.cdp.send("Runtime.callFunctionOn", params, sessionId));
  }
}

type Place = Omit<NodeAddress, "backendNodeId">;

/** Returns the isolated world of a document; `undefined` when its frame has gone. */
export async function worldIn(sender: CommandSender, { frameId, target }: Place): Promise<number | undefined> {
  const world = await sender.ask(
    // With a name, each call returns the same world.
    sender.page.cdp.send("Page.createIsolatedWorld", { frameId, worldName: "shoal-page" }, target.sessionId),
  );
  return world?.executionContextId;
}

/** Returns a node of a document by its remote object. */
export async function handleOf(
  sender: CommandSender,
  place: Place,
  objectId: string,
): Promise<ElementHandle | undefined> {
  const { frameId, loaderId, target } = place;
  const described = await sender.ask(sender.page.cdp.send("DOM.describeNode", { objectId }, target.sessionId));
  if (described === undefined) return undefined;
  const { backendNodeId } = described.node;
  return new ElementHandle(sender, { target, frameId, loaderId, backendNodeId }, objectId);
}

/** Returns the root element of the page; `undefined` while another document replaces it. */
export async function mainDocument(sender: CommandSender): Promise<ElementHandle | undefined> {
  const { cdp, targets } = sender.page;
  const [target] = targets;
  if (target === undefined) return undefined;
  const place = { target, frameId: sender.page.mainFrameId, loaderId: "" };
  const contextId = await worldIn(sender, place);
  if (contextId === undefined) {
    await sender.page.findMainFrame();
    return undefined;
  }
  const answer = await sender.ask(
    cdp.send("Runtime.evaluate", { expression: "document.documentElement", contextId }, target.sessionId),
  );
  const objectId = answer?.result.objectId;
  // Without a reference: it is used for calls only.
  return objectId === undefined ? undefined : new ElementHandle(sender, { ...place, backendNodeId: 0 }, objectId);
}
