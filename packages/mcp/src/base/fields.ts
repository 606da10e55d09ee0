export { type Fields, fieldsOf, inputSchema, joined, noFields, outputSchema, ownField } from "@shoal/contract/agent";
