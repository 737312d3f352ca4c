/**
 * What a function calls is looked up in the schema of the system only, whatever the host's `search_path` is: an operator
 * or a function of a neighbour could match better than the system's own. Those without a path are called by the others;
 * without one the planner can take them apart.
 */
export const searchPaths = `
DO $$
DECLARE
  v_function text;
BEGIN
  FOR v_function IN
    SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
      WHERE n.nspname = 'agui'
        AND p.proname <> ALL (ARRAY['now_ms', 'key_of', 'is_held', 'later_end', 'is_live', 'has_token', 'head_of',
          'record_of'])
  LOOP
    EXECUTE 'ALTER FUNCTION ' || v_function || ' SET search_path = pg_catalog, pg_temp';
  END LOOP;
END $$;
`;
