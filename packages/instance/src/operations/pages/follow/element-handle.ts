import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CommandSender, NodeAddress, World } from "./followed-page.ts";

type Argument = string | number | boolean | null | readonly unknown[];

/** The answer of a function names the node that it returns, without its content. */
export const withNodeId = { serialization: "deep", additionalParameters: { maxNodeDepth: 0 } } as const;

/** The backend node id of a node in an answer with {@link withNodeId}. */
export function nodeOf({ deepSerializedValue }: Protocol.Runtime.RemoteObject): number {
  const { backendNodeId } = deepSerializedValue?.value as { readonly backendNodeId: number };
  return backendNodeId;
}

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
    return inWorld(sender, address, async ({ contextId: executionContextId, realm }) => {
      const answer = await sender.ask(
        sender.page.cdp.send("DOM.resolveNode", { backendNodeId, executionContextId }, target.sessionId),
      );
      const objectId = answer?.object.objectId;
      // Another process may use the same number for another world.
      return objectId?.startsWith(realm) === true ? new ElementHandle(sender, address, objectId) : undefined;
    });
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
    const answer = await this.#call(declaration, values, { returnByValue: true });
    return answer?.exceptionDetails === undefined ? (answer?.result.value as T | undefined) : undefined;
  }

  /** Calls a function that returns another node of the same document, or nothing. */
  async related(declaration: string, ...values: readonly Argument[]): Promise<ElementHandle | undefined> {
    const answer = await this.#call(declaration, values, { serializationOptions: withNodeId });
    const { objectId, subtype } = answer?.result ?? {};
    if (answer === undefined || objectId === undefined || subtype !== "node") return undefined;
    return new ElementHandle(this.sender, { ...this.address, backendNodeId: nodeOf(answer.result) }, objectId);
  }

  /** The same element in the calls of another sender. */
  of(sender: CommandSender): ElementHandle {
    return new ElementHandle(sender, this.address, this.objectId);
  }

  /** The same element with the loader of its document. */
  in(loaderId: string): ElementHandle {
    return new ElementHandle(this.sender, { ...this.address, loaderId }, this.objectId);
  }

  #call(
    functionDeclaration: string,
    values: readonly Argument[],
    answer: Pick<Protocol.Runtime.CallFunctionOnRequest, "returnByValue" | "serializationOptions">,
  ): Promise<Protocol.Runtime.CallFunctionOnResponse | undefined> {
    const params = {
      functionDeclaration,
      objectId: this.objectId,
      arguments: values.map((value) => ({ value })),
      ...answer,
      awaitPromise: true,
      userGesture: true,
    };
    const { sessionId } = this.address.target;
    return this.sender.ask(this.sender.page.cdp.send("Runtime.callFunctionOn", params, sessionId));
  }
}

const maxWorlds = 100;

type Place = Omit<NodeAddress, "backendNodeId">;

/**
 * Uses the isolated world of a document. A world that is known is gone if `use` returns nothing: it is then made again.
 * Commands must therefore name an object of the world, or check that their answer does.
 */
export async function inWorld<T>(
  sender: CommandSender,
  place: Place,
  use: (world: World) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { worlds } = sender.page;
  const key = `${place.target.sessionId} ${place.frameId}`;
  const known = worlds.get(key);
  const used = known && (await use(known));
  if (used !== undefined) return used;
  const made = await makeWorld(sender, place);
  worlds.delete(key);
  if (made === undefined || made.realm === known?.realm) return undefined;
  worlds.set(key, made);
  for (const oldest of worlds.keys()) if (worlds.size > maxWorlds) worlds.delete(oldest);
  return use(made);
}

async function makeWorld(sender: CommandSender, { frameId, target }: Place): Promise<World | undefined> {
  const { cdp } = sender.page;
  const { sessionId } = target;
  // With a name, each call returns the same world.
  const world = await sender.ask(cdp.send("Page.createIsolatedWorld", { frameId, worldName: "shoal-page" }, sessionId));
  const contextId = world?.executionContextId;
  if (contextId === undefined) return undefined;
  const answer = await sender.ask(cdp.send("Runtime.evaluate", { expression: "globalThis", contextId }, sessionId));
  const objectId = answer?.result.objectId;
  return objectId === undefined
    ? undefined
    : { contextId, objectId, realm: objectId.slice(0, objectId.lastIndexOf(".") + 1) };
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

/** Calls a function with the global object of a document as `this`. It must not return `undefined`. */
export function callIn<T>(
  sender: CommandSender,
  place: Place,
  declaration: string,
  ...values: readonly Argument[]
): Promise<T | undefined> {
  return inWorld(sender, place, (world) => globalOf(sender, place, world).call<T>(declaration, ...values));
}

/** Like {@link callIn}, for a function that returns a node. */
export function relatedIn(
  sender: CommandSender,
  place: Place,
  declaration: string,
): Promise<ElementHandle | undefined> {
  return inWorld(sender, place, (world) => globalOf(sender, place, world).related(declaration));
}

/** Without a node: it is used for one call only. */
function globalOf(sender: CommandSender, place: Place, { objectId }: World): ElementHandle {
  return new ElementHandle(sender, { ...place, backendNodeId: 0 }, objectId);
}

/** {@link callIn} the main document; returns `undefined` while another document replaces it. */
export async function callInPage<T>(
  sender: CommandSender,
  declaration: string,
  ...values: readonly Argument[]
): Promise<T | undefined> {
  const [target] = sender.page.targets;
  if (target === undefined) return undefined;
  const place = { target, frameId: sender.page.mainFrameId, loaderId: "" };
  const result = await callIn<T>(sender, place, declaration, ...values);
  if (result === undefined) await sender.page.findMainFrame();
  return result;
}
