/** The part of an Immutable.js map that the search uses. */
interface ImmutableMap {
  get(name: string): unknown;
  getIn(path: readonly string[]): unknown;
  set(name: string, value: unknown): ImmutableMap;
}

interface ImmutableList<Item> {
  readonly size: number;
  filter(isKept: (item: Item) => boolean): ImmutableList<Item>;
}

interface TaggedOperations {
  map(change: (tag: ImmutableMap, name: string) => ImmutableMap | null): TaggedOperations;
  filter(isKept: (tag: ImmutableMap | null) => boolean): TaggedOperations;
}

/** Swagger UI searches tags and paths only; this also searches the names and the summaries of operations. */
export function findOperations(tags: TaggedOperations, phrase: string): TaggedOperations {
  const wanted = phrase.trim().toLowerCase();
  const has = (text: unknown) => typeof text === "string" && text.toLowerCase().includes(wanted);
  return tags
    .map((tag, name) => {
      if (has(name)) return tag;
      const found = (tag.get("operations") as ImmutableList<ImmutableMap>).filter(
        (operation) =>
          has(operation.get("path")) ||
          has(operation.getIn(["operation", "operationId"])) ||
          has(operation.getIn(["operation", "summary"])),
      );
      return found.size > 0 ? tag.set("operations", found) : null;
    })
    .filter((tag) => tag !== null);
}
