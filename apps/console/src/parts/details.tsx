import { Table } from "@mantine/core";
import type { ReactNode } from "react";

interface DetailsProps {
  /** Names and values. Rows without a value are omitted. */
  readonly rows: readonly (readonly [name: string, value: ReactNode])[];
}

/** Properties of one resource. */
export function Details({ rows }: DetailsProps) {
  return (
    <Table layout="fixed" verticalSpacing={6}>
      <Table.Tbody>
        {rows
          .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w="40%" fw={500}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  );
}
