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
WRONG["host"] = {case: {"race.host"} for case in (
    "kernel_write", "kernel_read", "copy_read", "copy_write", "managed", "fill", "other_stream", "early_event",
    "graph", "registered", "default_stream", "strided", "atomics", "memcpy")}
RIGHT["host"] = [f"ok_{case}" for case in WRONG["host"]] + ["ok_flag", "ok_callback", "ok_other_half", "ok_spin"]
RIGHT["streams"] = [f"ok_{case}" for case in WRONG["streams"]]


def cases(program):
    """(case, rules) of a program; right ones have no rules."""
    return [*WRONG[program].items(), *((case, set()) for case in RIGHT[program])]
