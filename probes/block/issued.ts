/**
 * `@issued` in a template, for bpftraces that do not know requests by their own address: by disk and sector alone, the row of one whose answer the kernel skipped
 * stays until that sector is asked for again, and in a map that is full of such rows nobody finds room. So there are three maps. When the one in use refuses
 * a row the next takes over, and the one that was relieved before is emptied: a request is known for as long as it takes to fill a map with rows that nobody
 * takes out, for ever where no answer is skipped. Each is in one of the maps at most.
 */
const STATEMENT = /\$issued = @issued\[([^\]]*)\];|delete\(@issued\[([^\]]*)\]\);|@issued\[([^\]]*)\] = (\(.*\));/g;

/** bpftrace empties a map when it reads that it shall. Where its buffer was full it never has, and after so long it is asked again. */
const GIVEN_UP_NS = 10e9;

/** The template with these maps where there are no raw tracepoints. Behind an assignment `$issued` is the row that was put there. */
export function withIssued(template: string): string {
  return template.replace(STATEMENT, (statement, read?: string, removed?: string, put?: string, value?: string) => {
    const otherwise = read !== undefined ? reading(read) : removed !== undefined ? removing(removed) : putting(put!, value!);
    return `WITH(raw) { ${statement} } WITHOUT(raw) { ${otherwise} }`;
  });
}

function reading(key: string): string {
  const from = (map: number) => `$issued = @issued_${map}[${key}];`;
  return `${from(0)} if ($issued.0 == 0) { ${from(1)} } if ($issued.0 == 0) { ${from(2)} }`;
}

function removing(key: string): string {
  return [0, 1, 2].map((map) => `delete(@issued_${map}[${key}]);`).join(" ");
}

function putting(key: string, value: string): string {
  const inTurn = (statement: (map: number) => string) =>
    `if ($turn == 0) { ${statement(0)} } else if ($turn == 1) { ${statement(1)} } else { ${statement(2)} }`;
  const put = `$turn = @issuing; ${inTurn((map) => `@issued_${map}[${key}] = $handed;`)} ${reading(key)}`;
  // As long as bpftrace has not emptied the one before, no further one takes over, and what is refused is lost.
  const next = `if (@issuing == $turn && nsecs - @emptying[0] > ${GIVEN_UP_NS}) { @emptying[0] = nsecs; @issuing = ($turn + 1) % 3; ${
    inTurn((map) => `clear(@issued_${(map + 2) % 3});`)
  } clear(@emptying); }`;
  return `${removing(key)} $handed = ${value}; ${put} if ($issued.0 == 0) { ${next} ${put} if ($issued.0 == 0) { LOST; } }`;
}
