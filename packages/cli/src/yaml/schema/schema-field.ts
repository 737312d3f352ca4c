import { z } from "zod";

/** What an editor shows of a field, and what a fault gives as an example. */
export interface FieldNotes {
  readonly title: string;
  readonly description: string;
  readonly examples?: readonly unknown[];
}

/** A schema with its notes. */
export function field<TSchema extends z.ZodType>(schema: TSchema, notes: FieldNotes): TSchema {
  const { examples, ...rest } = notes;
  return schema.meta(examples ? { ...rest, examples: [...examples] } : rest);
}

/** The name of an environment variable, never its value. */
export function envName(): z.ZodString {
  return z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
    error: "must be the name of an environment variable, like OPENAI_API_KEY, not its value",
  });
}

/** Text with something in it. */
export function textField(): z.ZodString {
  return z.string().min(1);
}
