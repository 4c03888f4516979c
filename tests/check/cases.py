"""The cases of the checker's suites and the rules that convict each: read by check_test.py, and by those who put the same
cases before a real GPU's tools (tests/gpu/check_record.py, card_table.py)."""

# The rules that convict each case, by program. All others must be clean.
WRONG = {
    "memory": {
        "past_end": {"memory.bounds"}, "before_start": {"memory.bounds"}, "into_neighbour": {"memory.bounds"},
        "no_guard": {"memory.bounds"}, "shared_next_array": {"memory.bounds"}, "shared_outside": {"memory.bounds"},
        "symbol": {"memory.bounds"}, "constant": {"memory.bounds"}, "null": {"memory.bounds"},
        "atomic": {"memory.bounds"}, "short_atomic": {"memory.bounds"}, "row": {"memory.bounds"}, "misaligned": {"memory.misaligned"},
        "freed": {"memory.freed"}, "freed_in_stream": {"memory.freed"}, "leak": {"memory.leak"},
    },
    "races": {
        "no_barrier": {"race.shared"}, "second_barrier": {"race.shared"}, "no_syncwarp": {"race.warp"},
        "tree": {"race.warp"}, "bins": {"race.shared", "race.warp", "race.same_value"}, "late_zero": {"race.shared", "race.warp"},
        "other_half": {"race.shared"}, "no_arrival": {"race.shared"}, "message": {"race.shared"},
        "copy_no_wait": {"race.copy"}, "copy_no_barrier": {"race.copy"}, "same_word": {"race.global"},
        "same_flag": {"race.same_value"}, "neighbours": {"race.global", "race.warp"}, "edges": {"race.global"},
        "total_plain": {"race.global"},
    },
    "api": {
        **{case: {"memory.free"} for case in (
            "free_twice", "free_inside", "free_host", "free_pinned_as_device", "free_device_as_pinned",
            "free_async_twice")},
        **{case: {"memory.freed"} for case in ("late_use", "late_use_of_many", "late_use_of_pool")},
        **{case: {"api.error"} for case in (
            "copy_past_end", "copy_direction", "fill_past_end", "pitch", "large_block", "too_much")},
    },
    "initialisation": {
        **{case: {"memory.uninitialised"} for case in (
            "sum", "half_copied", "branch", "index", "counter", "moved", "tree_tail", "halo", "local", "reused",
            "device_copy", "member", "wrong_byte", "thrown_away", "warp")},
        **{case: {"memory.uninitialised_copy"} for case in (
            "copy_none", "copy_word", "copy_tail", "copy_last", "copy_rows", "copy_moved")},
    },
    "synchronisation": {
        **{case: {"sync.mask"} for case in ("syncwarp", "vote", "ballot", "match", "reduce")},
        "shuffle": {"sync.mask", "sync.inactive_lane"},
        **{case: {"sync.divergent_barrier"} for case in ("branches", "early", "odd_lanes", "four_ways", "company",
                                                      "uneven")},
        **{case: {"sync.mixed_barrier"} for case in ("roles", "first_warp", "turns", "four_warps", "company_of_warps",
                                                  "uneven_warps")},
    },
    "order": {
        **{case: {"race.global"} for case in (
            "message_no_fence", "message_first_fence", "message_second_fence", "message_block_fence",
            "message_block_fence_behind", "late_payload", "plain_flag", "release_to_block", "acquire_from_block",
            "release_of_one", "lock_no_fence", "lock_block_fence", "last_no_fence",
            "total_of_blocks", "no_grid_sync", "chain_no_fence")},
        "lock_plain_unlock": {"race.global", "race.same_value"},
        "last_hoped": {"race.acquire"}, "not_cooperative": {"launch.failed"}, "not_by_all": {"launch.failed"},
    },
    "protocol": {
        **{case: {"sync.inactive_lane"} for case in (
            "short_block", "outside_mask", "other_half", "below_the_first", "ended", "decides")},
        **{case: {"sync.mbarrier"} for case in ("waits_for_nothing", "twice", "each_turn")},
        **{case: {"sync.mbarrier", "launch.failed"} for case in ("not_initialised", "invalidated", "only_first")},
        "early": {"race.shared", "race.warp"}, "no_wait": {"race.shared"},
    },
    "streams": {
        **{case: {"race.stream"} for case in (
            "two_streams", "copy_behind", "fill_beside", "two_copies", "default_stream", "behind_default_stream",
            "recorded_early", "never_recorded", "host_fill", "host_copy", "buffer_reused", "edges", "chain",
            "per_thread", "pageable", "atomics", "readers", "destroyed", "graph_twice", "graph_beside")},
        **{case: {"race.graph"} for case in (
            "nodes", "copy_node", "fill_node", "captured", "child_graph", "diamond", "disabled", "atomic_nodes")},
        **{case: {"race.lifetime"} for case in (
            "used_elsewhere", "freed_elsewhere", "freed_beside_use", "host_free", "filled_elsewhere",
            "pool_and_default_stream", "device_memory_freed", "used_behind_free")},
    },
}
RIGHT = {
    "memory": ["ok_none", "ok_shift", "ok_middle", "ok_guard", "ok_shared", "ok_dynamic", "ok_symbol", "ok_constant",
               "ok_aligned", "ok_local", "ok_heap", "ok_reused", "ok_pinned", "ok_managed", "ok_row",
               "ok_short_atomic"],
    "races": ["ok_barrier", "ok_two_barriers", "ok_syncwarp", "ok_volatile_tree", "ok_bins", "ok_bytes", "ok_halves",
              "ok_arrival", "ok_message", "ok_copy", "ok_copy_barrier", "ok_total", "ok_apart", "ok_in_turn",
              "ok_heap"],
    "api": ["ok_free", "ok_free_async", "ok_new_pointer", "ok_copy", "ok_looked_at", "ok_query", "ok_registered"],
    "initialisation": ["ok_sum", "ok_copied", "ok_guarded", "ok_exchange", "ok_moved", "ok_tree", "ok_halo", "ok_local",
                       "ok_symbol", "ok_device_copy", "ok_member", "ok_call", "ok_fields", "ok_top_byte",
                       "ok_thrown_away", "ok_warp", "ok_copy", "ok_copy_rows", "ok_holes", "ok_moved_holes",
                       "ok_written_here"],
    "synchronisation": ["ok_syncwarp", "ok_shuffle", "ok_vote", "ok_match", "ok_few", "ok_own", "ok_uniform",
                        "ok_return", "ok_loop", "ok_halves", "ok_count", "ok_one_way", "ok_company", "ok_even",
                        "ok_joins", "ok_joins_warps"],
    "order": ["ok_message", "ok_hand_over", "ok_lock", "ok_last", "ok_total", "ok_total_of_block", "ok_grid_sync",
              "ok_chain"],
    "protocol": ["ok_sum", "ok_half", "ok_broadcast", "ok_partner", "ok_width", "ok_below", "ok_ended", "ok_decides",
                 "ok_again", "ok_invalidated", "ok_both", "ok_early", "ok_hand_over", "ok_count", "ok_one_warp"],
}
WRONG["heap"] = {
    **{case: {"memory.bounds"} for case in ("piece_past_end", "piece_before_start", "piece_read", "piece_atomic", "piece_far",
                                            "object_past_end")},
    **{case: {"memory.freed"} for case in ("piece_freed", "piece_freed_write", "piece_freed_atomic", "object_freed")},
    "shared_piece_early": {"memory.freed", "race.warp"},
    **{case: {"memory.free"} for case in ("piece_twice", "piece_inside", "host_memory_given", "stack_given")},
    "piece_by_all": {"memory.free", "race.warp"},
    **{case: {"memory.leak"} for case in ("leak_piece", "leak_pinned", "leak_managed", "leak_pool", "leak_array",
                                          "leak_pitched")},
    **{case: {"memory.misaligned"} for case in ("wide_vector", "wide_read", "wide_shared", "wide_atomic", "wide_short")},
}
RIGHT["heap"] = ["ok_piece", "ok_piece_last", "ok_piece_atomic", "ok_object", "ok_object_deleted", "ok_piece_again",
                 "ok_shared_piece", "ok_nothing_given", "ok_leak_piece", "ok_leak_pinned", "ok_leak_managed",
                 "ok_leak_pool", "ok_leak_array", "ok_leak_pitched", "ok_wide", "ok_wide_vector", "ok_wide_read",
                 "ok_wide_shared", "ok_wide_atomic", "ok_wide_short"]
WRONG["left_out"] = {
    **{case: {"sync.bypassed"} for case in ("before_store", "before_store_warp", "with_value", "last_turn", "until_done",
                                            "in_function", "tile", "vote_before")},
    **{case: {"sync.count"} for case in ("two_counts", "arrives_for", "all_or_some", "reduces", "in_turns")},
    "by_warp": {"sync.count", "launch.failed"},
    **{case: {"launch.failed"} for case in ("phase_one_missing", "phase_half", "phase_and_barrier")},
}
RIGHT["left_out"] = ["ok_before_store", "ok_with_value", "ok_last_turn", "ok_until_done", "ok_in_function", "ok_tile",
                     "ok_vote_of_members", "ok_early_return", "ok_store_and_return", "ok_return_in_loop", "ok_two_counts",
                     "ok_arrives_for", "ok_all_or_some", "ok_by_warp", "ok_reduces", "ok_in_turns", "ok_phase",
                     "ok_phase_half", "ok_phase_and_barrier"]
WRONG["lesser"] = {
    **{case: {"race.same_value"} for case in ("flag", "mark", "shared_flag", "leader", "pairs", "zero_halo")},
    **{case: {"race.atomic_load"} for case in ("greatest", "count_and_look", "look_in_shared", "stop_at_limit",
                                               "lock_look", "bins_look")},
    **{f"last_{how}": {"race.acquire"} for how in ("add", "inc", "or", "sub", "wide", "system")},
    **{case: {"race.copy"} for case in ("stage_no_wait", "stage_no_barrier", "two_groups_early", "two_groups_none",
                                        "overwritten", "source_changed")},
}
RIGHT["lesser"] = ["ok_flag_volatile", "ok_flag_atomic", "ok_mark", "ok_shared_flag", "ok_leader", "ok_pairs",
                   "ok_zero_halo", "ok_greatest", "ok_count_and_take", "ok_look_in_shared", "ok_stop_at_limit",
                   "ok_lock_try", "ok_bins", *(f"ok_last_{how}" for how in ("add", "inc", "or", "sub", "wide", "system")),
                   "ok_stage", "ok_stage_barrier", "ok_two_groups", "ok_first_group", "ok_overwritten",
                   "ok_uncommitted", "ok_source_changed"]
WRONG["host"] = {case: {"race.host"} for case in (
    "kernel_write", "kernel_read", "copy_read", "copy_write", "pieces", "managed", "fill", "other_stream", "early_event",
    "graph", "registered", "default_stream", "strided", "atomics", "memcpy")}
RIGHT["host"] = [f"ok_{case}" for case in WRONG["host"]] + ["ok_flag", "ok_callback", "ok_other_half", "ok_spin", "ok_two_meet"]
RIGHT["streams"] = [f"ok_{case}" for case in WRONG["streams"]]


def leaks_matter(case):
    """Most others keep what they have to the end."""
    return "leak" in case or case == "ok_none"


def cases(program):
    """(case, rules) of a program; right ones have no rules."""
    return [*WRONG[program].items(), *((case, set()) for case in RIGHT[program])]
