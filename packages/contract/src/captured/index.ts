export {
  capturedAtStart,
  type CapturedCategories,
  categoriesNamed,
  changedCategories,
  defaultCategories,
  namesOf,
  shownCategories,
  type TelemetryRequest,
} from "./categories.ts";
