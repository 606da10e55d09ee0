/** Loaded with the first call; one file of the built program. */
export { PageActor } from "./act/page-actor.ts";
export { StepReplayer } from "./flows/step-replayer.ts";
export { FieldFiller } from "./fill/field-filler.ts";
export { observe } from "./outline/observe.ts";
export { readElements } from "./outline/read-elements.ts";
export { PageCamera } from "./pictures/page-camera.ts";
export { printPage } from "./pictures/print-page.ts";
export { PageReader } from "./read/page-reader.ts";
export { renderPage } from "./render/render-page.ts";
export { SessionPages } from "./tabs/session-pages.ts";
export { PageToolCaller } from "./tools/page-tools.ts";
export { RunningTools } from "./tools/running-tools.ts";
export { SessionToolCaller } from "./tools/session-tools.ts";
