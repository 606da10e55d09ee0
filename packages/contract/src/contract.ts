import * as apiKeys from "./api-keys.ts";
import * as browserFs from "./browser-fs.ts";
import * as browsers from "./browsers.ts";
import * as profiles from "./profiles.ts";
import * as service from "./service.ts";

/** Every operation of Shoal by its declaration's name. Programs where start-up counts import the operations they call instead. */
export const contract: typeof apiKeys & typeof browserFs & typeof browsers & typeof profiles & typeof service = {
  ...apiKeys,
  ...browserFs,
  ...browsers,
  ...profiles,
  ...service,
};
