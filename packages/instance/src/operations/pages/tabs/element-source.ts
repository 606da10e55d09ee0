import type { ElementHandle } from "../follow/element-handle.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import type { References } from "./references.ts";

/** Where an action finds the elements of references. */
export interface ElementSource {
  readonly references: Pick<References, "add" | "get" | "refOf">;
  /** @throws {ServiceError} 409 `stale_reference`. */
  resolve(ref: string): Promise<{ readonly element: ElementHandle; readonly replaced: boolean }>;
}

/** The tab of an action. */
export interface ActedTab {
  readonly id: string;
  readonly page: FollowedPage;
}
