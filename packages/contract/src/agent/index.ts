export {
  type Fields,
  fieldsOf,
  inputSchema,
  joined,
  type JsonSchema,
  neededFieldsOf,
  noFields,
  outputSchema,
  ownField,
  type ToolSchema,
} from "./fields.ts";
export { type Failure, failureOfAnswer, failureText, forTools, type ToolNames } from "./failure-text.ts";
export { actText, markdownText, observationText } from "./page-text.ts";
export { type PageTool, pageTools, toolsOfPages } from "./page-tools.ts";
export { fittingWidth, jpegSize, type PictureSize, scaledNote } from "./pictures.ts";
