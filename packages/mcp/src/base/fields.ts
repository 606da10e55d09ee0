export {
  type Fields,
  fieldsOf,
  inputSchema,
  joined,
  neededFieldsOf,
  noFields,
  outputSchema,
  ownField,
} from "@shoal/contract/agent";
