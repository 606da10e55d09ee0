import {
  foreignEventId,
  tooManyWatches,
  watchNotFound,
  watchedPathMissing,
  watchedPathNotADirectory,
} from "@shoal/contract/refusals";
import { ServiceError, type StreamFrame } from "@shoal/router";
import type { FileSystemEvent } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import { EventLog } from "./event-log.ts";
import { type Change, type FileTree, type TreeNode } from "./file-tree.ts";
import { baseName, below, isWithin } from "./paths.ts";

interface Watch {
  readonly path: string;
  readonly realPath: string;
  readonly recursive: boolean;
  readonly log: EventLog<FileSystemEvent>;
  readonly end: () => void;
}

const maxWatches = 10_000;

export class Watches {
  readonly #tree: FileTree;
  readonly #watches = new Map<string, Watch>();

  constructor(tree: FileTree) {
    this.#tree = tree;
  }

  start(path: string, recursive: boolean): string {
    const { missing, node, realPath } = this.#tree.locate(path, { follow: true, action: "watch" });
    if (missing.length > 0) throw ServiceError.of(watchedPathMissing(path));
    if (node.kind !== "directory") throw ServiceError.of(watchedPathNotADirectory(path));
    if (this.#watches.size >= maxWatches) throw ServiceError.of(tooManyWatches(maxWatches));
    const log = new EventLog<FileSystemEvent>();
    const stopListening = this.#tree.listen((change) => {
      tell(watch, change);
    });
    const watch: Watch = {
      path,
      realPath,
      recursive,
      log,
      end() {
        stopListening();
        log.close();
      },
    };
    const id = createId();
    this.#watches.set(id, watch);
    return id;
  }

  /** @param lastEventId - sent by a reader that resumes. */
  events(id: string, lastEventId: string | undefined): AsyncIterable<StreamFrame<FileSystemEvent>> {
    const { log } = this.#find(id);
    if (lastEventId === undefined) return log.read(0);
    const position = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
    if (position === undefined || position > log.lastId)
      throw ServiceError.of(foreignEventId("this watch", log.lastId));
    return log.read(position);
  }

  stop(id: string): void {
    this.#find(id).end();
    this.#watches.delete(id);
  }

  close(): void {
    for (const { end } of this.#watches.values()) end();
    this.#watches.clear();
  }

  #find(id: string): Watch {
    const watch = this.#watches.get(id);
    if (watch === undefined) throw ServiceError.of(watchNotFound(id));
    return watch;
  }
}

function tell(watch: Watch, change: Change): void {
  const { realPath, recursive } = watch;
  const push = (type: string, path: string, node: TreeNode, destination?: string): void => {
    watch.log.push({
      type,
      name: baseName(path),
      path: shown(watch, path),
      is_dir: node.kind === "directory",
      ...(destination !== undefined && { dest_path: shown(watch, destination) }),
    });
  };
  const sees = (path: string): boolean =>
    path !== realPath &&
    isWithin(realPath, path) &&
    (recursive || !path.slice(realPath === "/" ? 1 : realPath.length + 1).includes("/"));
  // The watched directory was removed or moved: the watch ends.
  if ((change.type === "DELETE" || change.type === "MOVE") && isWithin(change.path, realPath)) {
    if (change.type === "MOVE" && recursive)
      for (const [path, node] of contentOf(realPath, nodeAt(change, realPath)).reverse()) push("DELETE", path, node);
    push("DELETE", realPath, nodeAt(change, realPath));
    watch.end();
    return;
  }
  if (change.type !== "MOVE") {
    if (sees(change.path)) push(change.type, change.path, change.node);
    return;
  }
  const { destination, node, path, replaced } = change;
  if (sees(path) && sees(destination)) {
    push("RENAME", path, node, destination);
    push("CREATE", destination, node);
  } else if (sees(path)) {
    if (recursive) for (const [inner, innerNode] of contentOf(path, node).reverse()) push("DELETE", inner, innerNode);
    push("DELETE", path, node);
  } else if (sees(destination)) {
    push(replaced ? "WRITE" : "CREATE", destination, node);
    if (recursive) for (const [inner, innerNode] of contentOf(destination, node)) push("CREATE", inner, innerNode);
  }
}

function shown(watch: Watch, path: string): string {
  if (path === watch.realPath) return watch.path;
  return below(watch.path, ...path.slice(watch.realPath === "/" ? 1 : watch.realPath.length + 1).split("/"));
}

function nodeAt({ node, path }: Change, realPath: string): TreeNode {
  let found = node;
  for (const name of realPath.slice(path.length).split("/").filter(Boolean)) {
    const next = found.kind === "directory" ? found.children.get(name) : undefined;
    if (next === undefined) break;
    found = next;
  }
  return found;
}

function contentOf(path: string, node: TreeNode): [path: string, node: TreeNode][] {
  if (node.kind !== "directory") return [];
  return [...node.children].flatMap(([name, child]): [string, TreeNode][] => [
    [below(path, name), child],
    ...contentOf(below(path, name), child),
  ]);
}
