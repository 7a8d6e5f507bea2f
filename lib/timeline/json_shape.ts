/** What JSON from a file may be: a recording is written by others, and what is read here is trusted from here on. */
export type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === "string";
export const isFlag: Check = (value) => typeof value === "boolean";
export const isNumber: Check = (value) => typeof value === "number";
export const isInteger: Check = Number.isSafeInteger;
export const isCount: Check = (value) => Number.isSafeInteger(value) && value as number >= 0;
export const isAbsent: Check = (value) => value === undefined;
export const isNull: Check = (value) => value === null;

export function either(...checks: readonly Check[]): Check {
  return (value) => checks.some((check) => check(value));
}

export function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

/** An object whose names are anybody's. */
export function mapOf(check: Check): Check {
  return (value) => isObject(value) && Object.values(value).every(check);
}

/** The name of the first field that is not as it should be; undefined when all are. Fields that are not asked for may be anything. */
export function wrongField(object: Readonly<Record<string, unknown>>, fields: Readonly<Record<string, Check>>): string | undefined {
  return Object.keys(fields).find((name) => !fields[name]!(Object.hasOwn(object, name) ? object[name] : undefined));
}

/** An object with these fields at least. */
export function shape(fields: Readonly<Record<string, Check>>): Check {
  return (value) => isObject(value) && wrongField(value, fields) === undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
