import type { FileSystemEvent } from "@shoal/schemas";
import type { Stats } from "node:fs";
import { readableName } from "../escaped-names.ts";
import { bytesOf } from "./byte-names.ts";
import { isSurelySame, type KnownEntry, type KnownTree } from "./known-tree.ts";

type EventType = "CREATE" | "WRITE" | "DELETE" | "RENAME";

/** Limit for matching moves among pending events; beyond it, a move is reported as DELETE and CREATE. */
const maxLookBack = 2000;

interface EventItem {
  readonly at: number;
  type: EventType;
  readonly relativePath: string;
  readonly destination?: string;
  /** Unknown when the file vanished before it was checked. */
  readonly isDirectory: boolean | undefined;
}

export interface Departure {
  readonly at: number;
  readonly entry: KnownEntry;
  readonly parent: KnownEntry;
  readonly relativePath: string;
  /** Another entry has the path now. */
  reused: boolean;
  /** A move put the replacing file there, so the path was never empty. */
  overwritten: boolean;
  /** A new file replaced it: a WRITE, unless this entry turns out to have moved away. */
  replacement: EventItem | undefined;
  outcome: "open" | "moved" | "deleted";
  moved: EventItem | undefined;
}

const isDeparture = (item: EventItem | Departure): item is Departure => "outcome" in item;

/** Orders events so that they can be replayed. Events after a departure wait until its arrival is known. */
export class Outbox {
  readonly #tree: KnownTree;
  readonly #apiRoot: string;
  readonly #emit: (event: FileSystemEvent) => void;
  #items: (EventItem | Departure)[] = [];
  #next = 1;
  readonly #open = new Map<KnownEntry, Departure>();
  readonly #openByPath = new Map<string, Departure>();

  constructor(tree: KnownTree, apiRoot: string, emit: (event: FileSystemEvent) => void) {
    this.#tree = tree;
    this.#apiRoot = apiRoot;
    this.#emit = emit;
  }

  get position(): number {
    return this.#next;
  }
  get hasOpenDepartures(): boolean {
    return this.#open.size > 0;
  }

  push(type: EventType, relativePath: string, isDirectory: boolean | undefined): EventItem {
    const item: EventItem = { at: this.#next++, type, relativePath, isDirectory };
    this.#items.push(item);
    if (type === "CREATE" || type === "WRITE") this.#occupy(relativePath);
    return item;
  }

  /** Records that an entry, already detached from `parent`, left its path. */
  depart(entry: KnownEntry, parent: KnownEntry, relativePath: string): Departure {
    const departure: Departure = {
      at: this.#next++,
      entry,
      parent,
      relativePath,
      reused: false,
      overwritten: false,
      replacement: undefined,
      outcome: "open",
      moved: undefined,
    };
    this.#items.push(departure);
    this.#open.set(entry, departure);
    this.#openByPath.set(relativePath, departure);
    return departure;
  }

  departureOf(stats: Stats): Departure | undefined {
    if (this.#open.size === 0) return undefined;
    for (const entry of this.#tree.withInode(stats.ino)) {
      if (entry.parent !== undefined || !isSurelySame(entry, stats)) continue;
      const departure = this.#open.get(entry);
      if (departure) return departure;
    }
    return undefined;
  }

  /** Reports RENAME, then CREATE. Returns false when no replayable order exists; the departure is then a DELETE. */
  arrive(departure: Departure, parent: KnownEntry, destination: string): boolean {
    const { entry, relativePath } = departure;
    const oldParent = this.#tree.relativePath(departure.parent);
    const stillThere = oldParent !== undefined && join(oldParent, entry.name) === relativePath;
    const isDirectory = entry.directory !== undefined;
    const rename = { type: "RENAME", relativePath, destination, isDirectory } as const;
    if (!departure.reused && stillThere && relativePath !== destination) {
      this.#settle(departure, "moved");
      this.#items.push({ at: this.#next++, ...rename });
    } else if (
      relativePath !== destination &&
      this.#tree.placedAt(parent) < departure.at &&
      !this.#touchedSince(destination, departure.at)
    ) {
      departure.moved = { at: departure.at, ...rename };
      this.#settle(departure, "moved");
    } else {
      this.#settle(departure, "deleted");
      return false;
    }
    this.push("CREATE", destination, isDirectory);
    return true;
  }

  /** Sends ordered events; pending departures up to `position` become deletions. */
  flush(position: number): void {
    for (const departure of this.#open.values()) if (departure.at <= position) this.#settle(departure, "deleted");
    this.send();
  }

  send(): void {
    let sent = 0;
    for (const item of this.#items) {
      if (isDeparture(item)) {
        if (item.outcome === "open") break;
        if (item.moved) this.#emitItem(item.moved);
        if (item.outcome === "deleted") this.#emitDeletion(item);
      } else this.#emitItem(item);
      sent++;
    }
    if (sent === this.#items.length) this.#items = [];
    else if (sent > 0) this.#items.splice(0, sent);
  }

  removeAll(): void {
    const { root } = this.#tree;
    for (const child of root.directory?.children.values() ?? []) this.#emitRemoval(child, child.name);
    this.#emit({ type: "DELETE", name: readableName(bytesOf(root.name)).text, path: this.#apiRoot, is_dir: true });
  }

  #settle(departure: Departure, outcome: "moved" | "deleted"): void {
    departure.outcome = outcome;
    this.#open.delete(departure.entry);
    if (this.#openByPath.get(departure.relativePath) === departure) this.#openByPath.delete(departure.relativePath);
    if (outcome === "moved" && departure.replacement) departure.replacement.type = "CREATE";
  }

  #occupy(relativePath: string): void {
    const departure = this.#openByPath.get(relativePath);
    if (departure) departure.reused = true;
  }

  #touchedSince(relativePath: string, position: number): boolean {
    for (let index = this.#items.length - 1, looked = 0; index >= 0; index--, looked++) {
      const item = this.#items[index];
      if (!item || item.at <= position) return false;
      if (
        looked >= maxLookBack ||
        item.relativePath === relativePath ||
        ("destination" in item && item.destination === relativePath)
      )
        return true;
    }
    return false;
  }

  #emitDeletion(departure: Departure): void {
    if (departure.overwritten || departure.replacement) this.#tree.forget(departure.entry);
    else this.#emitRemoval(departure.entry, departure.relativePath);
  }

  #emitRemoval(removed: KnownEntry, path: string): void {
    const report = (entry: KnownEntry, relativePath: string): void => {
      this.#emitItem({ at: 0, type: "DELETE", relativePath, isDirectory: entry.directory !== undefined });
    };
    this.#tree.forget(removed, report, path);
  }

  #emitItem(item: EventItem): void {
    const path = readableName(bytesOf(item.relativePath));
    const destination = item.destination === undefined ? undefined : readableName(bytesOf(item.destination));
    this.#emit({
      type: item.type,
      name: path.text.slice(path.text.lastIndexOf("/") + 1),
      path: this.#apiPath(path.text),
      ...(item.isDirectory !== undefined && { is_dir: item.isDirectory }),
      ...(destination !== undefined && { dest_path: this.#apiPath(destination.text) }),
      ...((path.is_escaped ?? destination?.is_escaped) && { is_escaped: true }),
    });
  }

  #apiPath(relativeText: string): string {
    return `${this.#apiRoot === "/" ? "" : this.#apiRoot}/${relativeText}`;
  }
}

export function join(parent: string, name: string): string {
  return parent === "" ? name : `${parent}/${name}`;
}
