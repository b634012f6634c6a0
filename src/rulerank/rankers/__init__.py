"""Rankers that vote with rules. Each follows the scikit-learn conventions; fit takes qid."""
