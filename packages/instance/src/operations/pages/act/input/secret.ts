import { ServiceError } from "@shoal/router";
import { isAmongOrigins } from "../../../../protocol/page.ts";
import type { TypedSecrets } from "../../../../secrets/typed-secrets.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { maskField } from "../../node-input/field-masks.ts";
import { keyOf } from "../../tabs/references.ts";
import { secretForOtherElement, secretOnOtherSite, secretOutsideField } from "../act-errors.ts";
import type { ActTools, GivenSecret } from "../act-tools.ts";
import { fill } from "./fields.ts";

const placeFunction = "function () { return [self.origin, this.localName]; }";

/**
 * Fills a field with a stored value, if the document of the field is of a site of the credential.
 * @throws {ServiceError} 403 for another site, 409 for an editor; nothing is typed then.
 */
export function fillSecret(
  tools: ActTools,
  offered: GivenSecret,
  { closeFiles, secrets }: { readonly closeFiles: () => Promise<void>; readonly secrets: Pick<TypedSecrets, "add"> },
): Promise<ElementHandle> {
  return fill(tools, {
    text: offered.value,
    isSecret: true,
    onWrite: offered.onWrite,
    // The document of the field cannot change between this and the value: the field would go with it.
    async check(field) {
      if (offered.only !== undefined && keyOf(field.address) !== keyOf(offered.only))
        throw ServiceError.of(secretForOtherElement);
      const [origin, tag] = (await field.call<readonly string[]>(placeFunction)) ?? [];
      if (origin === undefined) return false;
      if (!isAmongOrigins(origin, offered.origins)) throw ServiceError.of(secretOnOtherSite(origin, offered));
      if (tag !== "input") throw ServiceError.of(secretOutsideField(await tools.describe(field)));
      // First: from here on, no action opens a file.
      secrets.add(offered.value);
      await closeFiles();
      return maskField(tools.run.page, field, offered.value);
    },
  });
}
