import { LRUCache } from "lru-cache";

/** Keeps the `max` most recently used values. With the option `max`, the library reserves memory for all of them at once. */
export function recentlyUsed<Value extends boolean | number | object | string>(
  max: number,
  options: Pick<LRUCache.OptionsMaxLimit<string, Value, unknown>, "dispose" | "ttl"> = {},
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize: max, sizeCalculation: () => 1, ...options });
}
