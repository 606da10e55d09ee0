export {
  capturedAtStart,
  type CapturedCategories,
  type CapturedName,
  categoriesNamed,
  changedCategories,
  defaultCategories,
  namesOf,
  shownCategories,
  type TelemetryRequest,
} from "./categories.ts";
